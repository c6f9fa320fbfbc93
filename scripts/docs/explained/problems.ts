import type { ErrorCode } from '../../../src/errors.ts'
import type { Explanation } from './explanation.ts'

/** Explains each error code. `src/errors.ts` holds its title and status. */
export const PROBLEM: Record<ErrorCode, Explanation> = {
  invalid_request: {
    cause:
      'On `/oauth/*`: the body is not a form, `grant_type` or `token` is missing, a parameter is ' +
      'malformed or repeated, the credentials are both in the header and in the form, or the ' +
      'token to revoke belongs to another client. Errors with status 403, 404, 405, 413 and 415 ' +
      'also have this code there. On `/tracking/events/*`: the `Idempotency-Key` is not 1 to 255 ' +
      'visible ASCII characters. A file in CSV: it is not valid UTF-8, or cut off.',
    fix:
      'Read `error_description` or `detail`. Send a token request as ' +
      '`grant_type=client_credentials&client_id=…&client_secret=…` with `Content-Type: ' +
      'application/x-www-form-urlencoded`. Use a UUID as the `Idempotency-Key`. Save a file as CSV in UTF-8.',
  },
  invalid_scope: {
    cause: '`scope` contains something other than `read` and `write`, separated by one space.',
    fix: 'Omit `scope` to get both scopes, or send `read`, `write` or `read write`.',
  },
  unsupported_grant_type: {
    cause: '`grant_type` is not `client_credentials`, which is the only supported grant type.',
    fix:
      'Send `grant_type=client_credentials`. There are no refresh tokens: request a new token in ' +
      'the same way.',
  },
  malformed_json: {
    cause:
      'The body is empty, truncated, not valid JSON, not valid UTF-8, not the gzip that ' +
      '`Content-Encoding` announces, or nested deeper than 8 levels (plans: 9). `detail` says which.',
    fix:
      'Write the body with a JSON library and send it as UTF-8. Send several records as an array, ' +
      '`[{…}, {…}]`. Newline-delimited JSON is not accepted, but `npm run push` converts it.',
  },
  invalid_query: {
    cause:
      'A query parameter is unknown, repeated or has an invalid value. `detail` names it. The code ' +
      'also means that `page` and `cursor` were combined, that a cursor was edited or belongs to ' +
      'another list or filter, that the `x-d1-bookmark` header is malformed, or that the URL is not ' +
      'percent-encoded UTF-8.',
    fix:
      'Send `page` from 1 and `per_page` from 1 to 500; `page` times `per_page` is at most 10,000, ' +
      'and a cursor reads on. Send `dry_run` as `true` or `false`. Send `from` and `to` as days in order, such as `2026-10-01`. Totals cover at most ' +
      '366 days, 50,000 groups and 2 MiB. If a page exceeds 2 MiB, request fewer records. If the list of one customer would search more than 4000 days, add `from` and `to`. Copy ' +
      '`cursor` from `meta.next_cursor` and keep the filters.',
  },
  missing_credentials: {
    cause: 'The request to a partner endpoint has no `Authorization: Bearer …` header.',
    fix:
      'Get an access token from `POST /oauth/token`, then send `Authorization: Bearer eyJ…` with ' +
      'every request.',
  },
  invalid_client: {
    cause:
      'The client is unknown or revoked, the secret is wrong or was rotated, the account is ' +
      'disabled, or there are no credentials. Credentials in the query or in a malformed ' +
      '`Authorization` header are ignored. The response is the same in each case.',
    fix:
      'Compare `client_id` and `client_secret` with the issued values. A secret begins with ' +
      '`tcs_live_` or `tcs_test_`. Send both in the form or both as `Authorization: Basic`. If ' +
      'the secret is lost, ask the integrations team to rotate it.',
  },
  invalid_token: {
    cause:
      'The access token was not issued by this service, has expired after 3600 seconds, or was ' +
      'revoked. Revoking or rotating a client and disabling an account also revoke its tokens.',
    fix:
      'Get a new token and repeat the request. If the token endpoint returns `invalid_client`, ' +
      'ask the integrations team for new credentials.',
  },
  invalid_api_key: {
    cause:
      'The `x-api-key` header is missing, the Brand Token in it is mistyped, unknown or revoked, ' +
      'or the brand is disabled. The response is the same in each case.',
    fix:
      'Send the Brand Token exactly as it was issued: 58 characters that begin with `tbt_live_` or ' +
      '`tbt_test_`. If the token was regenerated, send the new one.',
  },
  invalid_affiliate_key: {
    cause:
      'The key of the affiliate is mistyped, unknown or has ended, or the account is disabled. The ' +
      'response is the same in each case.',
    fix:
      'Send the key exactly as it was shown: `Authorization: Bearer taf_live_…`. If it is lost or has ' +
      'ended, ask the firm for a new one.',
  },
  affiliate_suspended: {
    cause: 'The firm has suspended the affiliate, who cannot call meanwhile. They earn on.',
    fix: 'Ask the firm.',
  },
  invalid_admin: {
    cause:
      'The request to `/admin/v1` has no valid admin key and no valid JWT of Cloudflare Access.',
    fix: 'Send the admin key as `Authorization: Bearer …`, or sign in through Cloudflare Access.',
  },
  https_required: {
    cause:
      'The request used plain HTTP. It is not redirected, because its secret has already been sent ' +
      'unencrypted.',
    fix:
      'Send the request to the `https://` address in `detail`. Ask the integrations team to replace ' +
      'the secret.',
  },
  insufficient_scope: {
    cause:
      'The access token lacks a scope: `GET` and `HEAD` require `read`, other methods `write`.',
    fix: 'Request a token without `scope`, which grants both scopes, and use that token.',
  },
  insufficient_role: {
    cause:
      'The admin key or the user of Cloudflare Access has a role that is too low. A `viewer` reads. A ' +
      '`manager` changes everything but secrets and what is approved and paid. An `approver` may do ' +
      'everything.',
    fix: 'Ask somebody with the role that `detail` names, or have your role changed.',
  },
  quota_exceeded: {
    cause:
      'The account stores as much as its storage quota: records, the log of deliveries and statements together. ' +
      'Nothing of the request was stored, and it is not in the log. Reading, rejected requests and ' +
      'requests that change nothing work as before. A dry run has the same answer as the request.',
    fix:
      'Ask the integrations team for a larger quota, then send the same request again. Smaller ' +
      'requests do not help. After many updates of the same records the count can be too high; the ' +
      'refused request starts a measurement, so repeat it once after a minute.',
  },
  wrong_vertical: {
    cause: 'The access token belongs to an account of another vertical.',
    fix: 'Send the request to the address in `detail`, or use the credentials of the right account.',
  },
  not_found: {
    cause:
      'The address does not exist, or this account has nothing with that id. Records of other ' +
      'accounts, held records and deliveries older than 30 days return the same error.',
    fix:
      'Compare the id with the list (`GET` without the id) and with `GET held`. Percent-encode ids ' +
      'in a path: send `A 1` as `A%201`.',
  },
  method_not_allowed: {
    cause:
      'The address does not support this method. Records are written only with `POST`, never with ' +
      '`PUT`, `PATCH` or `DELETE`.',
    fix: 'Use a method from the `Allow` header. `POST` creates a record and also replaces it.',
  },
  already_exists: {
    cause: 'On `/admin/v1`: an account with this id exists.',
    fix: 'Choose another id, or change the account with `PATCH /admin/v1/accounts/{account}`.',
  },
  conflict: {
    cause:
      'On `/admin/v1`: the state of the account does not allow the change. Examples are resetting a ' +
      '`live` account, giving Brand Tokens or event definitions to a partner or OAuth clients to a ' +
      'brand, changing the `book_zone` of a partner with records, rotating a revoked client, exceeding ' +
      '200 event definitions or 128 KiB of them, deleting an assignment of a closed period, and ' +
      'exceeding 500 open manual entries of an affiliate. The code also means that the affiliates changed at the same time.',
    fix:
      'Read `detail`, then check the current state with `GET`. If the affiliates changed, read them ' +
      'and send your change again. For the warning `conflict` of a customer, see ' +
      '[Links](/docs/links#verdicts).',
  },
  newer_version: {
    cause: 'Somebody stored a newer version of the plan or rule than the one that `after` names.',
    fix: 'Read the newer version. If yours is still meant, send `after` with its number.',
  },
  hash_changed: {
    cause:
      'The draft was computed again since you reviewed it, or the statement was approved with ' +
      'another hash.',
    fix: 'Get the statement, review it again, and approve it with its `hash`.',
  },
  period_not_over: {
    cause:
      'The period of the statement has not ended. It ends with its last day: in the account’s `book_zone` ' +
      '(UTC by default), for brands in their `time_zone`.',
    fix: 'Approve it at or after the time in `detail`.',
  },
  not_run: {
    cause:
      'No run of the period, or of a later one of the same kind, that began after its end is done. ' +
      'Or records, settings, rates or manual entries have changed since the last run, and the ' +
      'statement with them.',
    fix:
      'Start a run with `POST /admin/v1/accounts/{account}/periods/{period}/run`, wait until it is ' +
      'done, then approve the new drafts.',
  },
  earlier_not_approved: {
    cause:
      'The statement takes over the balance of another statement, which is still a draft, or the ' +
      'affiliate has a draft of an earlier period. `detail` names it.',
    fix: 'Approve the earlier statement first. Periods of an affiliate and plan close in order.',
  },
  stale: {
    cause:
      'After the draft was computed, another statement, a manual entry or a period was approved ' +
      'that changes it.',
    fix: 'Run the period again, review the new draft, and approve that one.',
  },
  holds: {
    cause: 'Records of the statement lack an exchange rate or a currency. `holds` lists them.',
    fix:
      'Import the rates and run the period again. To approve without these records, send ' +
      '`"leave_out_holds": true`: they are paid as an adjustment in a later period, once a rate exists.',
  },
  not_approved: {
    cause: 'A draft cannot be paid.',
    fix: 'Approve the statement first.',
  },
  already_paid: {
    cause: 'The statement was paid with another reference, which `detail` names.',
    fix:
      'Do not pay it again. If the bank returned the payment, book the return first. If it was paid ' +
      'twice, enter the second payment as a negative manual entry.',
  },
  not_paid: {
    cause:
      'No payment of the statement is booked that has not come back. In a payment file: the payment ' +
      'of a row with `returned_on` is not booked.',
    fix: 'Read the `status` of the statement, and its `returned`.',
  },
  nothing_due: {
    cause: 'The statement, or the affiliate in this currency, has nothing to be paid.',
    fix: 'Read `GET /admin/v1/accounts/{account}/payouts` for what is due.',
  },
  reference_used: {
    cause:
      'A payment, a return or a manual entry with this `reference` exists, and it says something ' +
      'else. `detail` says what. White space around a reference and the case of its letters do not ' +
      'count.',
    fix: 'Choose another reference. The same content under the same reference is accepted again.',
  },
  amount_differs: {
    cause:
      'The amount of a payment is not the sum of the oldest unpaid statements of its affiliate and ' +
      'currency. Each entry of `errors` says what would fit.',
    fix: 'Correct the amount. A statement is paid as a whole, the oldest first.',
  },
  not_open: {
    cause: 'The case was decided, or it has expired. `detail` says when.',
    fix: 'Read the case. A decision is final; new records open another case.',
  },
  evidence_changed: {
    cause:
      'The records of the case are not those of the `evidence_digest` that was sent as `shown`. ' +
      '`changed` has the present digest and the records that were added.',
    fix: 'Read the case again, and decide it with its present `evidence_digest`.',
  },
  held_by_case: {
    cause:
      'An open case of the fraud review holds the payouts of the affiliate, or a confirmed one that ' +
      'keeps its hold. `held_by` has the ids of the cases.',
    fix:
      'Decide the case. To pay a statement nevertheless, an approver sends `override` with a ' +
      '`reason` to its `pay`.',
  },
  payload_too_large: {
    cause:
      'The body has more than 8 MiB after decompression, more than 250,000 values, or more than ' +
      '50,000 objects and arrays, or its records need more than 12 million characters of storage ' +
      'or 78 MiB of memory. Or its records would rewrite more than 4 MiB of additional fields that ' +
      'are stored for the customers of a brand: a change of one field rewrites all of them.',
    fix:
      'Send fewer records in each request: halve the number until the request succeeds. 1000 ' +
      'records usually take less than 1 MiB, and any 64 customers of a brand can be changed together.',
  },
  unsupported_media_type: {
    cause:
      '`Content-Type` is not `application/json` or names a charset other than UTF-8, or ' +
      '`Content-Encoding` is neither `gzip` nor `identity`.',
    fix:
      'Send `Content-Type: application/json`, uncompressed or with gzip. `curl -d` sends a form by ' +
      "default: add `-H 'Content-Type: application/json'`.",
  },
  validation_failed: {
    cause:
      'The body or at least one record breaks a rule, and nothing was stored. `errors` lists at ' +
      'most 10 errors for each record and 1000 in total. `errors_total` counts all of them.',
    fix:
      'Fix each field listed in `errors`, then resend the request. Add `?dry_run=true` to validate ' +
      'without storing, or `Prefer: handling=lenient` to store the valid records.',
  },
  idempotency_key_reused: {
    cause:
      'The brand has used this `Idempotency-Key` on the same endpoint for other records, of which ' +
      'something was stored, or an event definition has changed since, so that the same records ' +
      'would count again under other identities. Nothing of this request was stored.',
    fix:
      'Use a new key, such as a UUID, for new records. Reuse a key only to repeat the same records. ' +
      'After a changed event definition, first read which records are stored.',
  },
  rate_limited: {
    cause:
      'More than 1000 requests arrived within 60 seconds with this access token or Brand Token; ' +
      '`GET totals`, `GET reports`, `GET unearned`, `GET qualifications` and the explanation of a line ' +
      'count as 10 requests each, `GET held` as 5. Nothing of this request was stored. Or, for ' +
      '`GET totals` and `GET reports`: another computation of the account is running, or has just ' +
      'taken a long time. Or, for `POST …/periods/{period}/run`: 20 runs of the account are running.',
    fix:
      'Wait for the seconds in `Retry-After`, then repeat the request. Send up to 1000 records in ' +
      'each request. `r` in the `RateLimit` header counts the remaining requests.',
  },
  temporarily_unavailable: {
    cause:
      'On `/oauth/*`, with status 429: 20 wrong secrets within 10 minutes for one client from one ' +
      'address, 200 wrong secrets from one address, or 60 tokens within an hour for one client. ' +
      'Errors with status 503 also have this code there.',
    fix:
      'Wait for the seconds in `Retry-After`. Reuse an access token for its 3600 seconds, and share ' +
      'it among your processes.',
  },
  internal_error: {
    cause: 'An unexpected error occurred in the service. On `/oauth/*` the code is `server_error`.',
    fix:
      'Repeat the request. Records that are already stored return `unchanged`; for that, events of ' +
      'brands need an `eventid`, a day or an `Idempotency-Key`. If the error persists, send the ' +
      '`request_id` to the integrations team.',
  },
  unavailable: {
    cause:
      'A part of the platform is temporarily unavailable, or a body arrived too slowly, or a body or a ' +
      'response above 64 KiB waited too long for memory, or earlier deliveries of the account took the ' +
      'database much longer than their bytes justify. A request is stored completely or not at all. Or, for `GET totals`: the days ' +
      'have too many changed records for one request, or records of a day are being written right now.',
    fix:
      'Wait for the seconds in `Retry-After`, then repeat the same request. Send bodies above 1 MiB ' +
      'one after the other, at 1 MiB per second or more; read each response at once, and ask for ' +
      'smaller pages. `GET totals` continues where the last request stopped.',
  },
}
