#!/bin/sh
# The first delivery: sends customers and transactions, then compares the totals with what was sent.
# Needs curl 7.66 or later, and jq 1.6 or later.
set -eu
api=$TRIBUTARY_BASE_URL/api/v1/forex
input=${EXAMPLE_INPUT:-$(dirname "$0")/../first-delivery.json}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Secrets reach curl through standard input, because every user of the machine can read arguments.
# A quote or a line break in a secret could add options to the configuration of curl.
case $TRIBUTARY_CLIENT_ID$TRIBUTARY_CLIENT_SECRET in
  *[!A-Za-z0-9._-]*) echo 'The credentials contain an invalid character.' >&2; exit 1 ;;
esac
# --retry repeats the request after 429 and 503, when Retry-After has passed. Repeating is safe.
sign_in() {
  status=$(printf 'user = "%s:%s"\n' "$TRIBUTARY_CLIENT_ID" "$TRIBUTARY_CLIENT_SECRET" |
    curl -sS -K - --retry 4 -o "$work/token" -w '%{http_code}' \
      -d grant_type=client_credentials "$TRIBUTARY_BASE_URL/oauth/token")
  token=$(jq -r '.access_token // empty' "$work/token") || true
  case $token in *[!A-Za-z0-9._-]*) echo 'The token contains an invalid character.' >&2; exit 1 ;; esac
  [ "$token" ] || { echo "No token: $status $(cat "$work/token")" >&2; exit 1; }
}

# call PATH [OPTION…]: writes the response to $work/answer.
call() {
  path=$1
  shift
  for left in 1 0; do
    code=$(printf 'header = "Authorization: Bearer %s"\n' "$token" |
      curl -sS -K - --retry 4 -o "$work/answer" -w '%{http_code}' "$@" "$api/$path")
    [ "$code" = 401 ] && [ "$left" = 1 ] || break
    sign_in # The token has expired or was revoked.
  done
  case $code in
    200) return ;;
    422) jq -r '.errors[] | "record \(.index) \(.pointer) \(.code): \(.message) \(.hint // "")"' \
      "$work/answer" >&2 ;;
    *) echo "$path answered $code: $(cat "$work/answer")" >&2 ;;
  esac
  exit 1
}

sign_in
for resource in customers transactions; do
  jq ".$resource" "$input" > "$work/body"
  call "$resource" -H 'Content-Type: application/json' --data-binary "@$work/body"
  jq -r --arg resource "$resource" '.results[] |
    [$resource, .key[], .outcome, .warnings[]?.message] | join(" ")' "$work/answer"
done

# jq computes in doubles, where 0.1 + 0.2 is not 0.3, so sums are whole cents.
call "$(jq -r '"totals?from=\(.from)&to=\(.to)"' "$input")"
jq -rn --slurpfile data "$input" --slurpfile answer "$work/answer" '
  def cents: tonumber * 100 | round;
  def tally(rows): reduce rows as [$name, $n] ({}; .[$name] += $n);
  $data[0] as {$customers, $transactions}
  | tally(["customers", ($customers | length)], ["transactions", ($transactions | length)],
      ($transactions[] | ["\(.currency) cents", (.amount_currency | cents)])) as $sent
  | tally($answer[0].data[] | [.resource, .count],
      ["\(.currency) cents", (.sums.amount_currency // 0 | cents)]) as $counted
  | ($sent | keys[] | "\(.): sent \($sent[.]), counted \($counted[.])"),
    if all($sent | keys[]; $sent[.] == $counted[.]) then "reconciled"
    else "not reconciled\n" | halt_error(1) end'
