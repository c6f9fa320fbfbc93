import type { ErrorCode } from '../../../src/errors.ts'
import type { Explanation } from './explanation.ts'

/** Why a request failed, and what to do about it; `src/errors.ts` has title and status. */
export const PROBLEM: Record<ErrorCode, Explanation> = {
  invalid_request: {
    cause:
      'On `/oauth/*`: the body is no form, `grant_type` or `token` is missing, a parameter is ' +
      'malformed or there twice, credentials are both in the header and in the form, or the ' +
      'token to revoke is another client’s; 403, 404, 405, 413 and 415 are called so there, too. ' +
      'On `/tracking/events/*`: the `Idempotency-Key` is not 1 to 255 visible ASCII characters.',
    fix:
      'Read `error_description`, elsewhere `detail`. A token request is ' +
      '`grant_type=client_credentials&client_id=…&client_secret=…` with `Content-Type: ' +
      'application/x-www-form-urlencoded`. A UUID is a good `Idempotency-Key`.',
  },
  invalid_scope: {
    cause:
      '`scope` has something else in it than the words `read` and `write`, with one space ' +
      'between them.',
    fix: 'Leave `scope` out to be given both, or send `read`, `write` or `read write`.',
  },
  unsupported_grant_type: {
    cause: '`grant_type` is not `client_credentials`, the only one there is.',
    fix: 'Send `grant_type=client_credentials`; for a new token too: there are no refresh tokens.',
  },
  malformed_json: {
    cause:
      'The body is empty, ends early, is not JSON, not well-formed UTF-8, not the gzip that ' +
      '`Content-Encoding` announces, or nests deeper than 8. `detail` says which.',
    fix:
      'Let a JSON library write the body, and send it as UTF-8. Many records are an array, ' +
      '`[{…}, {…}]`; one record a line is not taken, but `npm run push` sends such a file.',
  },
  invalid_query: {
    cause:
      'A parameter of the query is not known here, is there twice, or has a value that it cannot ' +
      'have; `detail` names it. So is `page` with `cursor`, a cursor that was edited or is of ' +
      'another list or filter, and an `x-d1-bookmark` header that no answer carried.',
    fix:
      '`page` is 1 to 1000000, `per_page` 1 to 500, `dry_run` `true` or `false`, `from` and `to` ' +
      'are days such as `2026-10-01`, in order, of totals at most 366, and fewer where there are more ' +
      'than 50,000 totals, or 2 MiB of them. Ask for fewer records where a page has more than 2 MiB. Take `cursor` from ' +
      '`meta.next_cursor` as it is, and keep the filters.',
  },
  missing_credentials: {
    cause: 'The request to a partner address has no header `Authorization: Bearer …`.',
    fix:
      'Ask `POST /oauth/token` for an access token, and send `Authorization: Bearer eyJ…` with ' +
      'every request.',
  },
  invalid_client: {
    cause:
      'The client is unknown or revoked, its secret is wrong or was rotated away, its account is ' +
      'disabled, or no credentials came: those in the query, or in a malformed `Authorization` ' +
      'header, are none. Which it is, nobody is told.',
    fix:
      'Compare `client_id` and `client_secret` with what was issued (a secret begins with ' +
      '`tcs_live_` or `tcs_test_`), and send both in the form or as `Authorization: Basic`, ' +
      'never both ways. Where the secret is lost, the integrations team rotates it.',
  },
  invalid_token: {
    cause:
      'The access token is not one of this service, is older than its 3600 seconds, or was ' +
      'ended: it was revoked, its client was revoked or rotated with no overlap, or its account ' +
      'was disabled.',
    fix:
      'Ask for a new token, and repeat the request with it. If that is answered ' +
      '`invalid_client`, the client has ended: ask the integrations team.',
  },
  invalid_api_key: {
    cause:
      'The header `x-api-key` is missing, or the Brand Token in it is mistyped, unknown or ' +
      'ended, or its brand disabled. Which it is, nobody is told.',
    fix:
      'Send the Brand Token as it was shown: 58 characters that begin with `tbt_live_` or ' +
      '`tbt_test_`. If it was regenerated, the old one ended at once or after the chosen ' +
      'overlap: use the new one.',
  },
  invalid_admin: {
    cause:
      'A request to `/admin/v1` has neither the admin key nor a JWT of Cloudflare Access, or a ' +
      'wrong one.',
    fix: 'Send `Authorization: Bearer` with the admin key, or go through Cloudflare Access.',
  },
  https_required: {
    cause:
      'The request came over plain HTTP. It is not redirected: its secret has been sent in ' +
      'clear.',
    fix: 'Send it to the `https://` address that `detail` names, and have that secret replaced.',
  },
  insufficient_scope: {
    cause: 'The access token lacks the scope: `read` for `GET` and `HEAD`, `write` for all others.',
    fix: 'Leave `scope` out of the token request, which grants both, and use that token.',
  },
  wrong_vertical: {
    cause: 'The access token is of an account of the other vertical.',
    fix: 'Send to the address that `detail` names, or with the credentials of the other account.',
  },
  not_found: {
    cause:
      'There is no such address, or this account has nothing under that id. What is another ' +
      'account’s, what is `held`, and a delivery older than 30 days are answered the same.',
    fix:
      'Compare path and id with the list (`GET` without the id), and look into `GET held`. In a ' +
      'path an id is percent-encoded: `A 1` is `A%201`.',
  },
  method_not_allowed: {
    cause:
      'The address is there, but not for this method. Records are written with `POST` alone, ' +
      'never with `PUT`, `PATCH` or `DELETE`.',
    fix: 'Use one of the methods in the header `Allow`. `POST` creates a record, and replaces it.',
  },
  already_exists: {
    cause: 'Of `/admin/v1`: there is an account with this id.',
    fix: 'Choose another id, or change this one: `PATCH /admin/v1/accounts/{account}`.',
  },
  conflict: {
    cause:
      'Of `/admin/v1`: what is there does not allow it. The data of a `live` account is reset, a ' +
      'partner given Brand Tokens or event definitions, a brand OAuth clients, a revoked client ' +
      'a new secret, a brand more than 200 event definitions or 128 KiB of them; or the ' +
      'affiliates changed at the same time.',
    fix:
      'Read `detail`, look at what is there with `GET`, and ask for what it allows. Affiliates ' +
      'that changed meanwhile are read, and sent, again.',
  },
  payload_too_large: {
    cause:
      'The body has more than 8 MiB once decompressed, more than 250,000 values or 50,000 objects ' +
      'and lists, or its records would take more than 12 million characters as they are kept.',
    fix:
      'Send fewer records a request, half as many until it passes. 1000 records mostly take less ' +
      'than 1 MiB.',
  },
  unsupported_media_type: {
    cause:
      '`Content-Type` is not `application/json`, or names another charset than UTF-8; or ' +
      '`Content-Encoding` is neither `gzip` nor `identity`.',
    fix:
      'Send `Content-Type: application/json`, and compress with gzip or not at all. `curl -d` ' +
      "says that it sends a form unless it has `-H 'Content-Type: application/json'`.",
  },
  validation_failed: {
    cause:
      'The body, or at least one record, breaks a rule, and nothing was stored. `errors` has at ' +
      'most 10 errors of one record and 1000 in all; `errors_total` counts all of them.',
    fix:
      'Mend what each `pointer` points at as its `code` explains, and send all of it again. ' +
      '`?dry_run=true` tries it without storing, `Prefer: handling=lenient` stores what is ' +
      'right.',
  },
  idempotency_key_reused: {
    cause:
      'This brand used the `Idempotency-Key` before on the same endpoint, for other records of ' +
      'which something was stored. Nothing of this request was stored.',
    fix:
      'Make a new key for new records, such as a UUID; send the old one only to repeat the very ' +
      'same records.',
  },
  rate_limited: {
    cause:
      'More than 1000 requests came within 60 seconds with this access token or Brand Token. ' +
      'Nothing of this request was stored.',
    fix:
      'Wait the seconds of `Retry-After`, then repeat the request: it passes. Send up to 1000 ' +
      'records a request; `r` of the header `RateLimit` says how many requests are left.',
  },
  temporarily_unavailable: {
    cause:
      'On `/oauth/*`, as 429: 20 wrong secrets in 10 minutes for one client from one address, ' +
      '200 from one address, or 60 tokens an hour for one client. A 503 is called so there, too.',
    fix:
      'Wait the seconds of `Retry-After`. Keep an access token for its 3600 seconds, and share ' +
      'it among your processes.',
  },
  internal_error: {
    cause:
      'Something broke on our side that nobody foresaw; on `/oauth/*` it is called ' +
      '`server_error`.',
    fix:
      'Repeat the request: what is stored already answers `unchanged` (events of brands need an ' +
      '`eventid`, a day or an `Idempotency-Key` for that). If it stays, tell the integrations ' +
      'team the `request_id`.',
  },
  unavailable: {
    cause:
      'A part of the platform does not answer for the moment, or a body of more than 1 MiB came ' +
      'too slowly. Nothing is half done.',
    fix: 'Repeat the same request after the seconds of `Retry-After`, as after `internal_error`.',
  },
}
