#!/bin/sh
# Two PCs and a link that loses one frame in ten, over HTTP. PATCHBAY_URL names another server.
set -eu
url=${PATCHBAY_URL:-http://127.0.0.1:3080}/v2
send() { curl -sS "$url/$2" -X "$1" -d "$3"; }
project=$(send POST projects '{"name": "first lab"}' | jq -er .project_id)

pc() {
  send POST "projects/$project/nodes" "{\"name\": \"PC$1\", \"node_type\": \"vpcs\", \"compute_id\": \"local\",
    \"properties\": {\"startup_script\": \"ip 10.0.0.$1/24\"}}" | jq -er .node_id
}
one=$(pc 1)
two=$(pc 2)

port() { echo "{\"node_id\": \"$1\", \"adapter_number\": 0, \"port_number\": 0}"; }
link=$(send POST "projects/$project/links" "{\"nodes\": [$(port "$one"), $(port "$two")]}" | jq -er .link_id)
send POST "projects/$project/nodes/start" '{}'
send PUT "projects/$project/links/$link" '{"filters": {"latency": [25], "packet_loss": [10]}}' | jq -c .filters

# A PC uses its address once it knows that no other one does.
probe() { send POST "projects/$project/nodes/$one/probe" "{\"type\": \"ping\", \"to\": \"10.0.0.2\", $1}"; }
until probe '"count": 1' | jq -e '.received == 1' >/dev/null; do sleep 0.2; done

# Twenty pings, measured by the PC itself.
probe '"count": 20, "interval_ms": 100' |
  jq -r '"\(.received) of \(.sent) pings were answered, the fastest after \([.replies[].ms | numbers] | min) ms"'
curl -sS "$url/projects/$project/links/$link/stats" | jq -c '.directions[] | {from_node, to_node, frames, dropped}'
curl -sS "$url/projects/$project/nodes" | jq -r '.[] | "telnet 127.0.0.1 \(.console)   # \(.name)"'
