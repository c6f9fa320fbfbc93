import * as v from 'valibot'
import { readStatuses } from '../ingest/db/attention.ts'
import { propagateSettings } from '../platform/auth/propagate.ts'
import { refuseArchived } from '../platform/db/archived.ts'
import { withAudit } from '../platform/directory/audit.ts'
import { bumpVersion } from '../platform/directory/credentials.ts'
import { listDefinitions } from '../platform/directory/event-definitions.ts'
import {
  type MappedField,
  putMapping,
  readMapping,
  STATUSES,
} from '../platform/directory/status-maps.ts'
import { DAY_MS } from '../platform/durations.ts'
import { type AccountCall, accountOperation } from '../platform/http/operation.ts'
import { validationFailed } from '../platform/http/read-fields.ts'
import { described, listOf } from '../platform/validation/described.ts'
import * as f from '../platform/validation/fields.ts'
import { member } from '../platform/validation/fields.ts'
import type { Issue } from '../platform/validation/issue.ts'
import { pointerStep } from '../platform/validation/pointer.ts'
import { isObject } from '../platform/validation/record-validator.ts'
import { STATUS_DAYS, statusMembersOf } from './open-work.ts'

const MAX_MAPPED_VALUES = 500

/** Validates a mapping. `expected` lists the meanings if they are an enumeration. */
function readMappingBody(
  body: unknown,
  meaning: v.GenericSchema<string>,
  expected?: string,
): Record<string, string> {
  if (!isObject(body)) throw validationFailed([{ pointer: '', code: 'type', expected: 'object' }])
  const entries: [string, unknown][] = Object.entries(body)
  if (entries.length > MAX_MAPPED_VALUES) {
    const expected = `at most ${MAX_MAPPED_VALUES} entries`
    const received = String(entries.length)
    throw validationFailed([{ pointer: '', code: 'length', expected, received }])
  }
  const mapping = new Map<string, string>()
  const issues = entries.flatMap(([word, value]): Issue[] => {
    const pointer = pointerStep(word)
    if (!v.is(f.text, word)) return [{ pointer, code: 'length', expected: '1 to 500' }]
    if (v.is(meaning, value)) {
      mapping.set(word, value)
      return []
    }
    if (!expected) return [{ pointer, code: 'type', expected: 'string' }]
    return [{ pointer, code: 'enum', expected, ...(typeof value === 'string' && { value }) }]
  })
  if (issues.length > 0) throw validationFailed(issues)
  return Object.fromEntries(mapping)
}

/** How the words of a field are found, and what the reference says of them. */
interface MappingDraft<F extends MappedField> {
  readonly field: F
  readonly path: string
  /** The end of the ids of the two operations. */
  readonly id: string
  /** The noun of the two commands. */
  readonly noun: string
  readonly meaning: v.GenericSchema<string>
  /** The meanings, if they are an enumeration. */
  readonly expected?: string
}

/** Throws if another status map would count the records of archived months otherwise. */
async function refuseOther(
  { env, db, account }: AccountCall,
  sent: Readonly<Record<string, string>>,
): Promise<void> {
  const textOf = (map: object) => JSON.stringify(Object.entries(map).sort())
  const stored = await readMapping(env.DB, account.id, 'status')
  if (textOf(stored) !== textOf(sent)) await refuseArchived(db, account.id, null)
}

/** Returns the operations that read and replace the mapping of a field's words to their meanings. */
function mappingOperations<const F extends MappedField>({
  field,
  path,
  id,
  noun,
  meaning,
  expected,
}: MappingDraft<F>) {
  const mapping = v.pipe(v.record(v.string(), meaning), v.maxEntries(MAX_MAPPED_VALUES))
  const members = { [field]: mapping } as { readonly [N in F]: typeof mapping }
  const answer = v.object(members)
  const read = async ({ env, account }: AccountCall) =>
    ({ [field]: await readMapping(env.DB, account.id, field) }) as never
  const get = accountOperation({
    id: `get${id}`,
    topic: 'definitions',
    method: 'GET',
    path,
    role: 'viewer',
    words: described(() => ({
      description: "Returns the partner's words with the meaning of each.",
      answer,
      command: { name: `${noun} get` },
    })),
    run: read,
  })
  const put = accountOperation({
    id: `put${id}`,
    topic: 'definitions',
    method: 'PUT',
    path,
    role: 'manager',
    body: members,
    whole: true,
    words: described(() => ({
      description: 'Replaces all words. An account has at most 500.',
      answer,
      command: { name: `${noun} set` },
    })),
    async run(call, input) {
      const { env, actor, account } = call
      const sent = readMappingBody(input[field], meaning, expected)
      if (field === 'status') await refuseOther(call, sent)
      const details = { [field]: sent }
      const entry = { actor, action: `${field}.put`, account: account.id, details }
      await withAudit(env.DB, entry, [
        ...putMapping(env.DB, account.id, field, sent),
        bumpVersion(env.DB, account.id),
      ])
      // A failure is no error: the map counts at once, and only warnings wait for the cron.
      await propagateSettings(env, account.id)
      return read(call)
    },
  })
  return [get, put] as const
}

/** The operations on the meanings of a partner's transaction statuses. */
export const [getStatusMap, putStatusMap] = mappingOperations({
  field: 'status',
  path: '/status-map',
  id: 'StatusMap',
  noun: 'status-map',
  meaning: f.oneOf(...STATUSES),
  expected: STATUSES.join(', '),
})

/** The operations on the labels of a partner's KYC statuses. */
export const [getKycLabels, putKycLabels] = mappingOperations({
  field: 'kyc_status_id',
  path: '/labels/kyc_status_id',
  id: 'KycLabels',
  noun: 'kyc-labels',
  meaning: f.text,
})

/** The operations on the labels of a partner's sales statuses. */
export const [getSalesLabels, putSalesLabels] = mappingOperations({
  field: 'sales_status_id',
  path: '/labels/sales_status_id',
  id: 'SalesLabels',
  noun: 'sales-labels',
  meaning: f.text,
})

export const listUnmappedStatuses = accountOperation({
  id: 'listUnmappedStatuses',
  topic: 'definitions',
  method: 'GET',
  path: '/status-map/unmapped',
  role: 'viewer',
  words: described(() => ({
    description:
      'Returns the statuses of the latest 500 transactions, and of the last 30 days as far as their totals are kept, that the status map does not have. Their transactions earn nothing until it has them.',
    answer: listOf(v.object({ status: member(f.text, 'The status, as it was sent.') })),
    command: { name: 'status-map unmapped' },
  })),
  async run({ env, db, account }) {
    const since = Math.floor(Date.now() / DAY_MS) - STATUS_DAYS
    const members = statusMembersOf(await listDefinitions(env.DB, account.id))
    const [mapping, found] = await Promise.all([
      readMapping(env.DB, account.id, 'status'),
      readStatuses(db, account.id, { since, members }),
    ])
    const known = new Set([...Object.keys(mapping), ...STATUSES])
    return { data: found.flatMap((status) => (known.has(status) ? [] : { status })) }
  },
})

/** The operations on what the words of a partner mean. */
export const MAPPING_OPERATIONS = [
  ...[getStatusMap, putStatusMap, getKycLabels, putKycLabels, getSalesLabels, putSalesLabels],
  listUnmappedStatuses,
]
