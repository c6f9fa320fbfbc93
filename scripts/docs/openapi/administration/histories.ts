import { affiliation, correction, refusal } from '../../../../src/admin/history-fields.ts'
import { FIELDS as FIELD_COLUMNS } from '../../../../src/db/commission/histories.ts'
import { documented, object } from '../../envelopes.ts'
import { closedObject, nullable } from '../../json-schema.ts'
import type { JsonSchema } from '../../types.ts'
import { type Operation, ref } from '../operation.ts'
import { COUNT, DAY, orNull, TEXT, TIME } from '../shapes.ts'
import { ACCOUNT_PATH, AT, NO_CONTENT, operation, returned } from './operation.ts'

const FROM = documented('The first day. Null: from the beginning.', orNull(DAY))

const refusalSchema = nullable(
  object({
    from: FROM,
    reason: documented('Why.'),
    refused_at: documented('When it was decided.', TIME),
  }),
)

const customerId = documented('The id of the customer.')

const affiliations = {
  customer_id: customerId,
  affiliations: documented('In order of days. The first holds from the beginning.', {
    type: 'array',
    items: object(
      {
        from: FROM,
        affiliate_id: documented('The affiliate. Null: the customer is organic.', orNull(TEXT)),
        link_id: documented(
          'The link from which the affiliate of a brand follows. Null for partners and after a correction.',
          orNull(TEXT),
        ),
        delivery_id: documented(
          'The last delivery that changed it that day. Null from the beginning, unless the affiliate was corrected early, and after a correction by the team.',
          orNull(TEXT),
        ),
        cause: documented(
          '`corrected_early`: the first affiliate of a customer of a firm lasted less than a day, so this one replaced it from the signup on. Absent otherwise.',
          { type: 'string', const: 'corrected_early' },
        ),
      },
      ['cause'],
    ),
  }),
  refusal: {
    ...refusalSchema,
    description: 'From when on the customer earns nothing. Null: the customer is not refused.',
  },
}

const AFFILIATIONS = object(affiliations)

const CORRECTED_AFFILIATIONS = object({
  ...affiliations,
  warnings: documented('The first 100 affiliates that are not configured.', {
    type: 'array',
    items: ref('PlanWarning'),
  }),
  warnings_total: documented('The number of all warnings, listed or not.', COUNT),
})

const FIELD_NAMES = FIELD_COLUMNS.filter((name) => name !== 'account_size')

const FIELDS = object({
  customer_id: customerId,
  fields: documented('In order of days. The first holds from the beginning.', {
    type: 'array',
    items: object({
      from: FROM,
      values: documented('All fields with a value.', {
        type: 'object',
        properties: {
          ...Object.fromEntries(FIELD_NAMES.map((name) => [name, TEXT])),
          account_size: { type: 'number' },
        },
        additionalProperties: false,
      }),
    }),
  }),
})

const correctionBody = (): JsonSchema => {
  const { properties, ...rest } = closedObject(correction, AT)
  const { affiliations, ...others } = properties as Record<string, JsonSchema>
  const items = closedObject(affiliation, AT)
  return { ...rest, properties: { ...others, affiliations: { ...affiliations, items } } }
}

type Draft = Pick<Operation, 'method' | 'id' | 'summary' | 'description' | 'answers' | 'body'>

/** Describes an operation twice: with the id of the customer in the path, and in the query. */
const twice = (noun: string, { id, summary, description, ...draft }: Draft): Operation[] => [
  operation({
    ...draft,
    id,
    summary,
    description,
    path: `${ACCOUNT_PATH}/customers/{customer_id}/${noun}`,
  }),
  operation({
    ...draft,
    id: `${id}ById`,
    summary: `${summary} by query parameter`,
    description:
      'Does the same as the path with the id. Use this for the ids `.` and `..`, which URL parsers remove from a path.',
    path: `${ACCOUNT_PATH}/customers/${noun}`,
    parameters: ['id_query'],
  }),
]

/** Lists the operations on what is known of a customer by day. */
export const histories = (): Operation[] => [
  ...twice('affiliations', {
    method: 'get',
    id: 'getAffiliations',
    summary: "Get a customer's affiliates by day",
    description:
      'Returns the affiliates of a customer. The first counts from the signup on. A change counts from the day on which it was received: in the time zone of a brand, in UTC for partners. Only another `attributed` verdict changes the affiliate of a customer of a brand.',
    answers: returned('The affiliates, and the refusal if there is one.', AFFILIATIONS),
  }),
  ...twice('affiliations', {
    method: 'put',
    id: 'putAffiliations',
    summary: "Correct a customer's affiliates",
    description:
      'Replaces the affiliates of a customer by day. The reason and what was replaced are in the audit log. The last affiliate holds until the account sends another one than it last sent. No day may be after today.',
    body: { schema: correctionBody() },
    answers: returned('The affiliates after the correction.', CORRECTED_AFFILIATIONS),
  }),
  ...twice('fields', {
    method: 'get',
    id: 'getCustomerFields',
    summary: "Get a customer's fields by day",
    description:
      'Returns the fields of a customer that the conditions of plans use. The first value of each field holds from the beginning; a change counts from the day on which it was received.',
    answers: returned('The fields.', FIELDS),
  }),
  ...twice('refusal', {
    method: 'put',
    id: 'refuseCustomer',
    summary: 'Refuse a customer',
    description:
      'Excludes a customer from commission, from the beginning or from a day on: for fraud, self-referral or a duplicate. Replaces an earlier refusal.',
    body: { schema: closedObject(refusal, AT) },
    answers: returned('The refusal.', object({ customer_id: customerId, refusal: refusalSchema })),
  }),
  ...twice('refusal', {
    method: 'delete',
    id: 'endRefusal',
    summary: 'End the refusal of a customer',
    description: 'Ends the exclusion: the records of the customer earn again, on all days.',
    answers: NO_CONTENT,
  }),
]

/** An affiliate with the parents by day. */
export const affiliateParents: JsonSchema = object({
  affiliate_id: documented('The id of the affiliate.'),
  parents: documented('In order of days. The first holds from the beginning.', {
    type: 'array',
    items: object({ from: FROM, parent: documented('The parent, if any.', orNull(TEXT)) }),
  }),
})
