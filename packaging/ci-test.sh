#!/usr/bin/env bash
# Runs `patchbay test` in a pipeline: installs what is missing, then tests each lab file. Used by the GitHub Action and the GitLab
# template. Usage: ci-test.sh FOLDER-OF-PATCHBAY REPORTS LAB...
# SEED sets the seed. The exit code is the highest of all labs; see docs/verdicts.md.
set -uo pipefail
patchbay=$1 reports=$2
shift 2
install() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}
missing=()
for pair in socat:socat ip:iproute2 tcpdump:tcpdump; do
  command -v "${pair%%:*}" > /dev/null || missing+=("${pair##*:}")
done
if [ "${#missing[@]}" -gt 0 ]; then
  install apt-get update && install apt-get install -y --no-install-recommends "${missing[@]}" || exit 3
fi
[ -d "$patchbay/node_modules" ] || (cd "$patchbay" && npm ci --omit=dev) || exit 3
status=0
for lab in "$@"; do
  name=$(basename "$lab")
  folder="$reports/${name%.*}"
  node "$patchbay/scripts/patchbay.mjs" test "$lab" --isolated --artifacts "$folder" ${SEED:+--seed "$SEED"}
  code=$?
  [ "$code" -gt "$status" ] && status=$code
done
exit "$status"
