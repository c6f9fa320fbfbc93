import * as v from 'valibot'
import { ApiError } from '../platform/errors.ts'
import { type AnyOperation, list, operation } from '../platform/http/operation.ts'
import { componentOf, pascalCase } from '../platform/http/operation-words.ts'
import { readDays } from '../platform/http/query.ts'
import { daysWanted } from '../platform/validation/answer-fields.ts'
import { described, named, referred } from '../platform/validation/described.ts'
import { member, optional, said } from '../platform/validation/fields.ts'
import { type Filter, findRecord, listRecords } from './db/list.ts'
import { MAX_RECORDS } from './envelope.ts'
import { receive } from './receive.ts'
import type { Resource } from './resource/resource.ts'
import { result } from './result-fields.ts'

/** A resource, and the vertical whose accounts have it. */
interface Owned {
  readonly vertical: string
  readonly resource: Resource
}

/** Returns the operations of a vertical on its records: an account sends and lists those of each resource. */
export const recordOperations = ({
  vertical,
  resources,
}: {
  readonly vertical: string
  readonly resources: readonly Resource[]
}): readonly AnyOperation[] =>
  resources.flatMap((resource) => {
    const owned = { vertical, resource }
    return [sendOf(owned), listOf(owned), ...(resource.hasItemRoute ? [readOf(owned)] : [])]
  })

const below = ({ name }: Resource) => `/${name}`

/** Describes a record. */
const recordOf = ({ vertical, resource }: Owned) =>
  referred<Readonly<Record<string, unknown>>>(componentOf(vertical, resource.title))

/** Describes the forms of a body: one record, an array, or, of firms, an object with `data`. */
export const bodyOf = (record: v.GenericSchema, acceptsDataWrapper: boolean) =>
  described((): v.GenericSchema => {
    const many = v.pipe(v.array(record), v.minLength(1), v.maxLength(MAX_RECORDS))
    const meta = member(v.unknown(), 'Ignored, so that you can send the answer of a list.')
    const wrapped = v.strictObject({ data: many, meta: v.optional(meta) })
    const forms = acceptsDataWrapper
      ? `An array of 1 to ${MAX_RECORDS} records, an object with that array as \`data\`, or a single record.`
      : `An array of 1 to ${MAX_RECORDS} records, or a single record.`
    return member(v.union([record, many, ...(acceptsDataWrapper ? [wrapped] : [])]), forms)
  })

/** What the operations that send say, by what they do with a record that is sent again. */
const SENDING = described(() => {
  const atomic =
    'If one record is invalid, nothing is stored, unless you send `Prefer: handling=lenient`.'
  const merged = (verb: string) =>
    `Creates or ${verb} 1 to ${MAX_RECORDS} records. Records with the same key are merged in the order of the array. ${atomic} With an \`Idempotency-Key\` you can repeat any request safely.`
  return {
    byKey: `Creates or replaces 1 to ${MAX_RECORDS} records by key. ${atomic} You can repeat the request safely until you send a newer version of the same records. The keys of the records make it safe, so the header \`Idempotency-Key\` is ignored.`,
    customers: merged('extends'),
    activities: merged('replaces'),
  }
})

/** Returns the operation that sends records. */
const sendOf = (owned: Owned) => {
  const { vertical, resource } = owned
  const hasKey = resource.acceptsIdempotencyKey
  return operation({
    id: `send${pascalCase(resource.name)}`,
    topic: vertical,
    method: 'POST',
    path: below(resource),
    callers: ['account'],
    params: {
      dry_run: optional(v.boolean(), said('Validate only: same response, nothing stored.', true)),
    },
    body: {
      records: described(() =>
        named(`${componentOf(vertical, resource.title)}Body`, bodyOf(recordOf(owned), !hasKey)),
      ),
    },
    whole: true,
    words: described(() => ({
      description: !hasKey
        ? SENDING.byKey
        : resource.name === 'customers'
          ? SENDING.customers
          : SENDING.activities,
      answer: result,
      others: { 201: result, 207: result },
      accepts: ['Prefer', 'Content-Encoding', ...(hasKey ? ['Idempotency-Key'] : [])],
      headers: ['Preference-Applied'],
      errors: [
        'quota_exceeded',
        ...(hasKey ? (['invalid_request', 'idempotency_key_reused'] as const) : []),
      ],
    })),
    handle: (c, { dry_run = false }) => receive(c, resource, dry_run),
  })
}

/** Returns the operation that lists records. */
const listOf = (owned: Owned) => {
  const { vertical, resource } = owned
  const { customerFilter, name } = resource
  return list({
    id: `list${pascalCase(name)}`,
    topic: vertical,
    path: below(resource),
    callers: ['account'],
    params: {
      [customerFilter]: optional(
        v.string(),
        said(
          'Returns only the records of this customer.',
          customerFilter === 'customerid' ? 'P-1001' : 'C-1001',
        ),
      ),
      ...daysWanted,
    } as Filters,
    words: described(() => ({
      description:
        'Returns stored records in a fixed order, which is not alphabetical. `from` and `to` are days of the records; of customers, of the signup. Follow the cursor to read every record exactly once, even while new records arrive.',
      answer: recordOf(owned),
    })),
    list({ grant, session }, { [customerFilter]: customer_id, ...days }, page) {
      const filter = { ...readDays(days), ...(customer_id !== undefined && { customer_id }) }
      return listRecords(session, resource, grant.account, filter as Filter, page)
    },
  })
}

/** The parameters of a list of records. */
type Filters = Partial<Record<Resource['customerFilter'], TextFilter>> & typeof daysWanted
type TextFilter = v.OptionalSchema<v.GenericSchema<string>, undefined>

/** Returns the operation that reads one record by its id. */
const readOf = (owned: Owned) => {
  const { vertical, resource } = owned
  return operation({
    id: `get${pascalCase(resource.title)}`,
    topic: vertical,
    method: 'GET',
    path: `${below(resource)}/{id}`,
    callers: ['account'],
    params: {
      id: member(
        v.string(),
        described(() => said('The id of the record, as you sent it.', exampleOf(resource))),
      ),
    },
    words: described(() => ({
      description: 'Returns a stored record. A held record is not found until it is released.',
      answer: recordOf(owned),
      errors: ['not_found'],
    })),
    async run({ grant, session }, { id }) {
      const record = await findRecord(session, resource, grant.account, id)
      if (!record) throw new ApiError('not_found', { detail: NO_RECORD })
      return record
    },
  })
}

/** Why a record is not found. */
export const NO_RECORD = 'This account has no record with this id. Ids are case-sensitive.'

/** Returns the example of the first member of a key. */
function exampleOf({ key, fields }: Resource): string {
  const { examples } = v.getMetadata(fields[key[0] ?? ''] as never) as { examples: [string] }
  return examples[0]
}
