#!/bin/sh
# A brand's first activity: customers, daily figures, then the service's totals beside what was
# sent. It needs curl 7.66 or later, and jq 1.6 or later.
set -eu
api=$TRIBUTARY_BASE_URL/tracking/events
input=${EXAMPLE_INPUT:-$(dirname "$0")/../first-activity.json}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What has a quote or a line break in it could say more to curl than it should.
case $TRIBUTARY_BRAND_TOKEN in
  *[!A-Za-z0-9_]*) echo 'The Brand Token contains an invalid character.' >&2; exit 1 ;;
esac

# call PATH [OPTION…]: writes the response to $work/answer. The Brand Token reaches curl
# through standard input, because every user of the machine can read arguments. --retry repeats the
# request after 429 and 503, when Retry-After has passed. Repeating is safe.
call() {
  path=$1
  shift
  code=$(printf 'header = "x-api-key: %s"\n' "$TRIBUTARY_BRAND_TOKEN" |
    curl -sS -K - --retry 4 -o "$work/answer" -w '%{http_code}' "$@" "$api/$path")
  case $code in
    200) return ;;
    401) echo 'The Brand Token is unknown: it was regenerated, or copied in part.' >&2 ;;
    422) jq -r '.errors[] | "record \(.index) \(.pointer) \(.code): \(.message) \(.hint // "")"' \
      "$work/answer" >&2 ;;
    *) echo "$path answered $code: $(cat "$work/answer")" >&2 ;;
  esac
  exit 1
}

for resource in customers activities; do
  jq ".$resource" "$input" > "$work/body"
  call "$resource" -H 'Content-Type: application/json' --data-binary "@$work/body"
  jq -r --arg resource "$resource" '.results[] |
    [$resource, .key[], .outcome, .warnings[]?.message] | join(" ")' "$work/answer"
done

# Figures are text. jq computes in doubles, where 0.1 + 0.2 is not 0.3, so sums are whole cents.
call "$(jq -r '"totals?from=\(.from)&to=\(.to)"' "$input")"
jq -rn --slurpfile data "$input" --slurpfile answer "$work/answer" '
  def cents: tonumber * 100 | round;
  def tally(rows): reduce rows as [$name, $n] ({}; .[$name] += $n);
  $data[0] as {$customers, $activities}
  | tally(["customers", ($customers | length)], ["activities", ($activities | length)],
      ($activities[] | ["NGR \(.Currency) cents", (.NGR | cents)])) as $sent
  | tally($answer[0].data[] | [.resource, .count],
      ["NGR \(.Currency) cents", (.sums.NGR // 0 | cents)]) as $counted
  | ($sent | keys[] | "\(.): sent \($sent[.]), counted \($counted[.])"),
    if all($sent | keys[]; $sent[.] == $counted[.]) then "reconciled"
    else "not reconciled\n" | halt_error(1) end'
