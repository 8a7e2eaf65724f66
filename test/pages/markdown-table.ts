const cell = (text: string): string => text.replaceAll("|", "\\|");

/** A table in Markdown whose columns are as wide as their widest cell, with a line break at its end. */
export const markdownTable = (
  head: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>,
): string => {
  const lines = [head, ...rows].map((line) => line.map(cell));
  const widths = head.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  const printed = lines.map(
    (line) => `| ${line.map((text, at) => text.padEnd(widths[at] ?? 0)).join(" | ")} |`,
  );
  printed.splice(1, 0, `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`);
  return `${printed.join("\n")}\n`;
};
