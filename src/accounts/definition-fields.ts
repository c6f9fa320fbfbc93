import * as v from 'valibot'
import { KNOWN_MEMBERS } from '../ingest/db/record-table.ts'
import { PRODUCTS } from '../platform/directory/event-definitions.ts'
import * as f from '../platform/validation/fields.ts'
import { member, nullable, optional, said } from '../platform/validation/fields.ts'
import { objectOf } from '../platform/validation/shapes.ts'

const isCustomMember = (name: string) => !KNOWN_MEMBERS.includes(name)

/** The name of a member that a definition can use: any but those that every event can have. */
const recordMember = v.pipe(
  f.text,
  v.check(
    isCustomMember,
    `pattern the name of a custom field, other than ${KNOWN_MEMBERS.join(', ')}`,
  ),
)

const MAX_NAMES = 100

const names = v.pipe(
  v.array(recordMember, 'type array'),
  v.maxLength(MAX_NAMES, `length at most ${MAX_NAMES} names`),
)

const product = objectOf({
  field: recordMember,
  map: v.pipe(
    v.record(v.string(), f.oneOf(...PRODUCTS), 'type object'),
    v.maxEntries(MAX_NAMES, `length at most ${MAX_NAMES} values`),
  ),
})

/** The fields of an event definition. */
export const definitionFields = {
  granularity: member(
    f.oneOf('event', 'day'),
    said(
      'Whether a record is a single event or a daily aggregate. Sending the aggregate of a day again replaces it.',
    ),
  ),
  eventid: optional(
    f.oneOf('required', 'used', 'ignored'),
    said(
      'Whether `eventid` is required, used to identify an event if present, or ignored. Defaults to `used`.',
    ),
  ),
  kpis: optional(
    names,
    said('The names of the KPI fields, which must be decimals. `Value` is always a KPI.', [
      'GGR',
      'NGR',
    ]),
  ),
  product: v.optional(
    nullable(
      product,
      said('The field that carries the product line, and the product line of each of its values.', {
        field: 'Product',
        map: { Casino: 'casino' },
      }),
    ),
  ),
  currency: v.optional(
    nullable(
      f.currency,
      said('The currency of events that name none, as an ISO 4217 code.', 'EUR'),
    ),
  ),
  outflow: optional(
    v.boolean('type boolean'),
    said(
      'Whether money leaves with the event, as by a withdrawal. Its `Value` is positive, or negative if `amount_signs` of the account is `signed`. Defaults to `false`.',
    ),
  ),
  status_member: v.optional(
    nullable(
      recordMember,
      said(
        'The field that holds the status of an event. Its words have the meanings of the status map. An event without the field is `approved`, and so are all events if no field is named.',
        'status',
      ),
    ),
  ),
}
