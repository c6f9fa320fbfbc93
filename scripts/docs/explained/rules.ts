import type { IssueCode } from '../../../src/validation/issue.ts'
import type { Explanation } from './explanation.ts'
import { PROBLEM } from './problems.ts'

/** Explains each rule that a record can break, by the code of its error. */
export const RULE: Record<IssueCode, Explanation> = {
  required: {
    cause:
      'A required field is missing or null. In the brand API the code also means that the name of ' +
      'the field has the wrong case, or that the records came as `{"data": […]}` instead of an ' +
      'array.',
    fix: 'Send the field that `pointer` names, such as `"affiliate_id": "IB-07"`. No field has a default.',
  },
  unknown_field: {
    cause:
      'The partner API accepts only the fields of its schema, so that a misspelt field is never ' +
      'ignored. Beside `data`, the bulk form accepts only `meta`.',
    fix:
      'Correct the spelling as `hint` suggests, or remove the field. Fields of the other vertical ' +
      'are unknown: `leverage` belongs to forex, `account_size` to prop trading.',
  },
  type: {
    cause:
      'The value has the wrong JSON type: for example an amount as text, an id as a number, an ' +
      'optional partner field that is null, or a record that is not an object.',
    fix:
      'In the partner API send amounts as numbers (`100.25`, not `"100.25"`). Send ids and times as ' +
      'text (`"1001"`, not `1001`). Omit optional fields that have no value.',
  },
  date_time: {
    cause:
      'The value is not a valid RFC 3339 date-time with an offset or `Z`. Hours are 00 to 23, and ' +
      'seconds 00 to 59. Brands may also send a time without an offset, such as `2026-10-01 08:30`, ' +
      'or a day. The year must be 0000 to 9999, also in UTC and, for brands, in the time zone of ' +
      'the account.',
    fix:
      'Send `2026-10-01T08:30:00Z`, or with an offset `2026-10-01T10:30:00+02:00`. For brands, a ' +
      'time without an offset is in the time zone of the account.',
  },
  date: {
    cause: 'The value is not a valid day in the form `YYYY-MM-DD`. 30 February does not exist.',
    fix: 'Send only the day, such as `2026-10-02`, without a time.',
  },
  length: {
    cause:
      'A text is empty or longer than 500 Unicode code points (50 for `tracking_data` of the partner ' +
      'API). In the brand API the code also means more than 64 additional fields or 16 KiB of them ' +
      'in one record, more than 256 of them or 64 KiB for one customer, or more than 32 KPIs in one ' +
      'record.',
    fix:
      'Omit a field instead of sending `""`, and shorten values that are too long. Combine related ' +
      'additional fields in one field whose value is an object or an array. Send further KPIs as ' +
      'another event.',
  },
  text: {
    cause:
      'A text contains a NUL character (`\\u0000`) or an unpaired surrogate, such as `\\ud83d` ' +
      'alone. For brands, the rule also applies to names of members.',
    fix:
      'Remove NUL characters, which often come from fixed-width columns. Truncate text between ' +
      'characters, not inside a surrogate pair.',
  },
  pattern: {
    cause:
      'The text does not have the form in `message`: `lang_id` is two lowercase letters, ' +
      '`country_code` two uppercase letters, and `leverage` a ratio to 1.',
    fix: 'Send `"lang_id": "de"`, `"country_code": "DE"`, `"leverage": "1:100"`.',
  },
  email: {
    cause:
      'The text is not an e-mail address: an `@` followed by a domain with a dot. The message does ' +
      'not repeat the value, because it is personal.',
    fix:
      'Send an address such as `jane.doe@example.com` or `jürgen@bücher.example`. Omit the field if ' +
      'the address is unknown.',
  },
  currency: {
    cause:
      'The value is not an ISO 4217 currency code. Codes are three uppercase letters, and ' +
      'cryptocurrencies have none. A recently withdrawn code is accepted with the warning ' +
      '`withdrawn_currency`.',
    fix:
      'Send `EUR`, not `eur`, `€` or `EURO`. Convert an amount in a cryptocurrency. `hint` suggests ' +
      'a code.',
  },
  number: {
    cause:
      'The number is too large (`1e400`). In the brand API the code also means that `Value` or a KPI ' +
      'of the event definition is not a decimal: it has separators, a plus sign, an exponent or ' +
      'letters.',
    fix: 'Send digits with at most one point, such as `1000.50` or `-1000.50`. Brands may send text.',
  },
  digits: {
    cause:
      'The number has more than 15 significant digits (not counting zeros at either end), is beyond ' +
      '±10^15, or is finer than 10^-12.',
    fix: 'Round the number: send `0.3` instead of `0.30000000000000004`. Send long ids as text.',
  },
  decimals: {
    cause:
      '`amount_currency` or `lots_traded` has more than 2 decimal places. On `/admin/v1`: an amount has ' +
      'more places than `message` allows, such as those of its currency.',
    fix: 'Round the number, such as to `100.25`. Other amounts, such as `pnl`, may have more places.',
  },
  minimum: {
    cause:
      'The number is negative, but the field must be at least 0, such as `lots_traded`, `spread_cost` or ' +
      '`account_size`. On `/admin/v1`: a number is too small, or a day too early.',
    fix: 'Send `0` or more. Send a loss as a negative `pnl`. On `/admin/v1`, `message` has the minimum.',
  },
  enum: {
    cause:
      'The value is not one of those that `message` lists. Each vertical has its own values for ' +
      '`transaction_type`.',
    fix:
      'Send a listed value, such as `deposit` (forex) or `challenge_fee` (prop trading). Send ' +
      '`other` if none fits.',
  },
  duplicate_key: {
    cause:
      'An earlier record of the request has the same key: `customer_id`, `transaction_id`, or for ' +
      'trading activity `date`, `customer_id`, `instrument` and `currency` together. Only the ' +
      'partner API refuses this. In the brand API the records apply in order.',
    fix:
      'Send each key once in a request, and sum trading activity by day. Send two versions of a ' +
      'record in two requests, one after the other.',
  },
  unknown_customer: {
    cause:
      'The record names a customer that this account has not sent, and the policy ' +
      '`unknown_customer` is `reject`, which is the default for partners. With the policy `hold`: ' +
      'the account would have more than 100,000 held records.',
    fix:
      'Send the customer first, then this record again. Ids are case-sensitive: `C-1001` is not ' +
      '`c-1001`. If you cannot guarantee the order, ask the integrations team to set the policy to ' +
      '`hold`. If the account has too many held records, `GET held` names the customers to send.',
  },
  unknown_affiliate: {
    cause:
      'The `affiliate_id` is not configured, and the policy `unknown_affiliate` is `reject`. By ' +
      'default this is only a warning.',
    fix:
      'Send an affiliate that `GET account` lists. Or ask the integrations team to configure the ' +
      'affiliate, then send the record again.',
  },
  record_count: {
    cause: 'A request must have 1 to 1000 records. This one has none or too many.',
    fix:
      'Split larger deliveries, and send no request without records. `npm run push` splits files of ' +
      'any size.',
  },
  field_case: {
    cause:
      'In the brand API, a member differs only by case from `customerId` (`customerid` for ' +
      'activities), `eventname`, `eventid`, `createtime`, `Value` or `Currency`, and no event ' +
      'definition names it.',
    fix:
      'Use the spelling in `hint`. Note that customers have `customerId`, but activities ' +
      '`customerid`.',
  },
  no_kpi: {
    cause:
      'The activity of a brand has no amount: neither `Value` nor a KPI. With an event definition, ' +
      'KPIs are `Value` and the fields that it names. Without one, every decimal is a KPI.',
    fix: 'Send `"Value": "100.00"`, or KPIs such as `"GGR": "12.50"`, without separators.',
  },
  idempotency_key_reused: PROBLEM.idempotency_key_reused,
  circle: {
    cause:
      'On affiliates in `/admin/v1`: the `parent` is the affiliate itself or one of its sub-affiliates.',
    fix: 'Name a parent that is not a sub-affiliate of this affiliate, or send `"parent": null` for no parent.',
  },
  maximum: {
    cause:
      'On plans: the number is too large for this member. On payments: the day is after tomorrow, or that of a return after today. ' +
      '`message` names the maximum.',
    fix: 'Send a smaller number. The team finds all limits in `docs/plans.md`.',
  },
  choice: {
    cause:
      'On plans: an object must have exactly one of the members that `message` lists, and has ' +
      'several or none. A rule has one of `amount`, `percent` and `tiers`.',
    fix: 'Send exactly one of these members.',
  },
  duplicate: {
    cause:
      'On plans: two rules have the same `id`, two terms of a base the same `name`, or two versions ' +
      'the same `effective_from`. In payment files: two columns have the same name, or two payments ' +
      'the same `reference`.',
    fix: 'Choose another name or day. To change a version, put one that begins on another day.',
  },
  unknown_reference: {
    cause:
      'On plans and assignments: the value names something that does not exist, such as a rule of ' +
      'the plan, an earlier term of the base or a plan of the account. In payment files: a column ' +
      'is missing or unknown.',
    fix: 'Correct the spelling as `hint` suggests, or send what it names first.',
  },
  not_applicable: {
    cause:
      'On plans: the member is known, but has no meaning beside the others. `message` says what it ' +
      'needs: `fence` needs a share per affiliate, for example.',
    fix: 'Leave the member out, or change what `message` names.',
  },
  order: {
    cause: 'On plans: the `from` of a step is not greater than that of the step before it.',
    fix: 'Send the steps in ascending order, each `from` once.',
  },
  fixed_by_plan: {
    cause:
      'On plans: `period`, `currency` and `terms` belong to the plan and not to a version. The ' +
      'version has another value than those before it.',
    fix: 'Send the same value, or create a plan with another name and assign affiliates to it.',
  },
  rate_differs: {
    cause:
      'On exchange rates in `/admin/v1`: another rate is stored for this currency and day. Nothing of the file was stored.',
    fix: 'Compare both with the source. If the stored rate is wrong, send the file with `?correct=true`, which keeps the old rate beside it.',
  },
  amount_differs: {
    cause:
      'On payments in `/admin/v1`: the amount is not the sum of the oldest unpaid statements of the affiliate in this currency. Nothing of the request was booked.',
    fix: 'Pay statements as a whole, the oldest first. The hint names the nearest sums of whole statements.',
  },
  nothing_due: {
    cause:
      'On payments in `/admin/v1`: no approved statement of the affiliate in this currency is unpaid. Nothing of the request was booked.',
    fix: 'Compare the payment with `GET /admin/v1/accounts/{account}/payouts`.',
  },
  not_paid: {
    cause:
      'On payments in `/admin/v1`: a payment with `returned_on` is not booked. Nothing of the request was booked.',
    fix: 'Book the payment first. Then book that it came back.',
  },
  reference_used: {
    cause:
      'On payments in `/admin/v1`: another payment or a return has this reference, or the same payment with another day. Nothing of the request was booked.',
    fix: 'Give every payment a reference of its own. The same payment under the same reference is accepted again.',
  },
  held_by_case: {
    cause:
      'On payments in `/admin/v1`: a case of the fraud review holds what the payment would pay. Nothing of the request was booked.',
    fix: 'Decide the case. A file never pays what is held: an approver pays such a statement with `override` and a reason.',
  },
}
