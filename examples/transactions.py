# What agent.py, merchant.py and passer_by.py share: their variables, and calling the service.
import json, os, sys, urllib.request

def env(name):
    """A variable of the environment. Without it the process ends with 64 and a line that names it."""
    if not os.environ.get(name):
        print(f"{name} is missing. Set it as examples/README.md says.", file=sys.stderr)
        sys.exit(64)
    return os.environ[name]

def answer(path, body=None):
    data, kind = body and json.dumps(body).encode(), {"content-type": "application/json"}
    return json.load(urllib.request.urlopen(urllib.request.Request(env("SERVICE") + path, data, kind)))

def call(path, body=None):
    return answer(path, body)["data"]
