import type { IssueCode } from '../../../src/validation/issue.ts'
import type { Explanation } from './explanation.ts'

/** Why a record is wrong, and what would be right, by the code of its error. */
export const RULE: Record<IssueCode, Explanation> = {
  required: {
    cause:
      'A field that the record must have is missing or null. In the brand API also: it is there, ' +
      'but its name has the wrong case, or the records came as `{"data": […]}` instead of as an ' +
      'array.',
    fix:
      'Send it under the name that `pointer` says, such as `"affiliate_id": "IB-07"`. There are ' +
      'no defaults.',
  },
  unknown_field: {
    cause:
      'The partner API takes the fields of its schema and no others, so that a misspelt one is ' +
      'never lost unseen. Beside `data`, the bulk form takes only `meta`.',
    fix:
      'Spell it as `hint` says, or leave it out. What the other vertical has is unknown here: ' +
      '`leverage` is of forex, `account_size` of prop trading.',
  },
  type: {
    cause:
      'The value has the wrong JSON type: a number as text, an id as a number, an optional ' +
      'partner field that is null, or a record or body that is no object.',
    fix:
      'Write amounts of the partner API as numbers (`100.25`, not `"100.25"`), ids and times as ' +
      'text (`"1001"`, not `1001`), and leave out an optional field that says nothing.',
  },
  date_time: {
    cause:
      'The value is not an RFC 3339 date-time with an offset or `Z`, or there is no such ' +
      'instant: hours are 00 to 23, seconds 00 to 59. Brands may also leave the offset out, as ' +
      'in `2026-10-01 08:30`, or send a day.',
    fix:
      'Send `2026-10-01T08:30:00Z`, or with an offset `2026-10-01T10:30:00+02:00`. A brand’s ' +
      'time without an offset is on the clock of the account’s time zone.',
  },
  date: {
    cause:
      'The value is not written `YYYY-MM-DD`, or the calendar has no such day: 2026 has no 30 ' +
      'February.',
    fix: 'Send the day alone, such as `2026-10-02`, without a time.',
  },
  length: {
    cause:
      'A text is empty or longer than 500 characters, `tracking_data` of the partner API longer ' +
      'than 50; Unicode code points are counted. In the brand API also: more than 16 KiB of ' +
      'fields of its own in one record, or more than 64 KiB of them kept of one customer.',
    fix:
      'Leave a field out instead of sending `""`, and shorten what is too long: nothing is cut ' +
      'for you.',
  },
  text: {
    cause:
      'A text has a NUL (`\\u0000`) or a lone surrogate (half a pair, such as `\\ud83d` alone) ' +
      'in it; of brands the name of a member, too.',
    fix:
      'Strip NULs, which mostly come from fixed-width columns, and cut texts between characters, ' +
      'not within a surrogate pair.',
  },
  pattern: {
    cause:
      'The text has not the form that `message` shows: `lang_id` is two small letters, ' +
      '`country_code` two capitals, `leverage` a ratio to 1.',
    fix: 'Send `"lang_id": "de"`, `"country_code": "DE"`, `"leverage": "1:100"`.',
  },
  email: {
    cause:
      'The text is no e-mail address: an `@` with a domain behind it that has a dot, all in ' +
      'ASCII. What was sent is personal, and not said back.',
    fix:
      'Send `jane.doe@example.com`, other letters of a domain as `xn--…`. Leave it out where it ' +
      'is not known.',
  },
  currency: {
    cause:
      'The code is not in ISO 4217, in which codes are three capitals and no crypto currency has ' +
      'one. A code that was withdrawn lately is taken, with the warning `withdrawn_currency`.',
    fix: 'Send `EUR`, not `eur`, `€` or `EURO`; `hint` names what was probably meant.',
  },
  number: {
    cause:
      'A number is too large to be one (`1e400`). In the brand API also: `Value`, or a KPI of ' +
      'the event definition, is no decimal but has separators, a plus sign, an exponent or ' +
      'letters.',
    fix:
      'Send digits with at most one point: `1000.50` or `-1000.50`; a brand may send it as text, ' +
      'too.',
  },
  digits: {
    cause:
      'The number is written with more than 15 significant digits (zeros at either end do not ' +
      'count), is beyond ±10^15, or finer than 10^-12.',
    fix:
      'Round it before it is sent: `0.30000000000000004` is `0.3`. A long id is no amount: send ' +
      'it as text.',
  },
  decimals: {
    cause: '`amount_currency` or `lots_traded` has more than 2 decimal places.',
    fix: 'Round it to 2 places: `100.25`. `pnl`, `amount_usd` and the other amounts may have more.',
  },
  minimum: {
    cause:
      'The number is negative where 0 is the least: `lots_traded`, `volume_usd`, `spread_cost`, ' +
      '`commission`, `account_size`, `drawdown`, `max_drawdown`.',
    fix: 'Send `0` or more. A loss is a negative `pnl`, which may be.',
  },
  enum: {
    cause:
      'The word is none of those that `message` lists; `transaction_type` has a list for each ' +
      'vertical.',
    fix:
      'Send one of them as it is written, such as `deposit` (forex) or `challenge_fee` (prop ' +
      'trading), and `other` for what fits none.',
  },
  duplicate_key: {
    cause:
      'An earlier record of the same request has the same key: `customer_id`, `transaction_id`, ' +
      'or of trading activity `date`, `customer_id`, `instrument` and `currency` together. Only ' +
      'the partner API refuses that: in the brand API the later record applies after the ' +
      'earlier.',
    fix:
      'Send each key once a request, of a day its sum. An older and a newer version go in ' +
      'requests of their own, one after the other.',
  },
  unknown_customer: {
    cause:
      'The record names a customer that this account has not sent yet, and its policy ' +
      '`unknown_customer` is `reject`, as by default of partners.',
    fix:
      'Send the customer first, then this record again. Ids are compared as they are: `C-1001` ' +
      'is not `c-1001`. Where no order can be kept, the integrations team can set the policy to ' +
      '`hold`.',
  },
  unknown_affiliate: {
    cause:
      'The `affiliate_id` is not configured, and the policy `unknown_affiliate` of the account ' +
      'is `reject`; by default it is only a warning.',
    fix:
      'Send one of the `affiliates` that `GET account` lists, or have the integrations team ' +
      'configure the new one, and send the record again.',
  },
  record_count: {
    cause: 'A request has 1 to 1000 records; this one has none, or more.',
    fix:
      'Send bulks of at most 1000, and nothing where there is nothing to send. `npm run push` ' +
      'cuts files of any size.',
  },
  field_case: {
    cause:
      'In the brand API a member is called like `customerId` (of activities `customerid`), ' +
      '`eventname`, `eventid`, `createtime`, `Value` or `Currency` but for its case, and no ' +
      'event definition names it so: nothing would look for it there.',
    fix:
      'Write it as `hint` says. Mind that customers have `customerId`, and activities ' +
      '`customerid`.',
  },
  no_kpi: {
    cause:
      'The activity of a brand has no amount: neither `Value` nor a KPI. With an event ' +
      'definition only the members that it names are KPIs, without one each decimal is.',
    fix: 'Send `"Value": "100.00"`, or KPIs such as `"GGR": "12.50"`, without separators.',
  },
  idempotency_key_reused: {
    cause:
      'This brand used the `Idempotency-Key` before on the same endpoint, for other records of ' +
      'which something was stored. Nothing of this request was stored.',
    fix:
      'Make a new key for new records, such as a UUID; send the old one only to repeat the very ' +
      'same records.',
  },
  circle: {
    cause:
      'Of affiliates in `/admin/v1`: the `parent` is the affiliate itself, or stands below it.',
    fix: 'Name a parent that is not below it, or send `"parent": null` for one that has none.',
  },
}
