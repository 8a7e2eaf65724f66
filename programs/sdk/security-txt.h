#pragma once

/* Whom to tell of a weakness, in the program itself: solana-security-txt, version 1. Explorers look for the two markers; between
   them are names and values, each closed by a zero byte. The linker adds the section `.security.txt`, which says where
   this text is. No instruction reads it. */
#ifdef PROGRAM_CUSTODY
#define SECURITY_TXT_NAME "Settlement Evidence custody"
#else
#define SECURITY_TXT_NAME "Settlement Evidence attestor"
#endif

static const char security_txt[] __attribute__((used, section(".rodata.security_txt"))) =
    "=======BEGIN SECURITY.TXT V1=======\0"
    "name\0" SECURITY_TXT_NAME "\0"
    "project_url\0private\0"
    "contacts\0other:private vulnerability report of the source repository\0"
    "policy\0SECURITY.md in the source repository. We pay no bounty.\0"
    "preferred_languages\0en\0"
    "auditors\0None\0"
    "=======END SECURITY.TXT V1=======";
