import * as v from 'valibot'
import { readStatuses } from '../ingest/db/attention.ts'
import { propagateSettings } from '../platform/auth/propagate.ts'
import { refuseArchived } from '../platform/db/archived.ts'
import { withAudit } from '../platform/directory/audit.ts'
import { bumpVersion } from '../platform/directory/credentials.ts'
import { listDefinitions } from '../platform/directory/event-definitions.ts'
import { putMapping, readMapping, STATUSES } from '../platform/directory/status-maps.ts'
import { DAY_MS } from '../platform/durations.ts'
import { type AccountCall, accountOperation } from '../platform/http/operation.ts'
import { validationFailed } from '../platform/http/read-fields.ts'
import { described, listOf } from '../platform/validation/described.ts'
import * as f from '../platform/validation/fields.ts'
import { member } from '../platform/validation/fields.ts'
import { isObject } from '../platform/validation/record-validator.ts'
import { validateField } from '../platform/validation/strict-object.ts'
import { STATUS_DAYS, statusMembersOf } from './open-work.ts'

/** The most words of an account. */
const MAX_WORDS = 500

/** What the words of a partner mean. */
const statusMap = v.pipe(
  v.custom<object>(isObject, 'type object'),
  v.record(f.text, f.oneOf(...STATUSES)),
  v.maxEntries(MAX_WORDS, `length at most ${MAX_WORDS} entries`),
)

const status = v.record(v.string(), v.picklist(STATUSES) as v.GenericSchema<string>)

/** @throws ApiError `validation_failed` */
function readStatusMap(sent: unknown): StatusMap {
  const { issue, output } = validateField('status', sent, statusMap)
  if (issue) throw validationFailed([{ ...issue, pointer: issue.pointer.slice('/status'.length) }])
  return output as StatusMap
}

type StatusMap = Readonly<Record<string, string>>

/** Throws if another status map would count the records of archived months otherwise. */
async function refuseOther({ env, db, account }: AccountCall, sent: StatusMap): Promise<void> {
  const textOf = (map: object) => JSON.stringify(Object.entries(map).sort())
  const stored = await readMapping(env.DB, account.id)
  if (textOf(stored) !== textOf(sent)) await refuseArchived(db, account.id, null)
}

const ofStatusMap = { topic: 'definitions', path: '/status-map' } as const

export const getStatusMap = accountOperation({
  ...ofStatusMap,
  id: 'getStatusMap',
  method: 'GET',
  role: 'viewer',
  words: described(() => ({
    description:
      "Returns the partner's words for the status of a transaction with the meaning of each.",
    answer: v.object({ status }),
    command: { name: 'status-map get' },
  })),
  run: async ({ env, account }) => ({ status: await readMapping(env.DB, account.id) }),
})

export const putStatusMap = accountOperation({
  ...ofStatusMap,
  id: 'putStatusMap',
  method: 'PUT',
  role: 'manager',
  body: { status },
  whole: true,
  words: described(() => ({
    description: `Replaces all words. An account has at most ${MAX_WORDS}.`,
    answer: v.object({ status }),
    command: { name: 'status-map set' },
  })),
  async run(call, sent) {
    const { env, actor, account } = call
    const map = readStatusMap(sent.status)
    await refuseOther(call, map)
    const entry = { actor, action: 'status.put', account: account.id, details: { status: map } }
    await withAudit(env.DB, entry, [
      ...putMapping(env.DB, account.id, map),
      bumpVersion(env.DB, account.id),
    ])
    // A failure is no error: the map counts at once, and only warnings wait for the cron.
    await propagateSettings(env, account.id)
    return { status: map }
  },
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
      readMapping(env.DB, account.id),
      readStatuses(db, account.id, { since, members }),
    ])
    const known = new Set([...Object.keys(mapping), ...STATUSES])
    return { data: found.flatMap((status) => (known.has(status) ? [] : { status })) }
  },
})

/** The operations on what the statuses of a partner mean. */
export const MAPPING_OPERATIONS = [getStatusMap, putStatusMap, listUnmappedStatuses]
