import * as v from 'valibot'
import { propagateSettings } from '../platform/auth/propagate.ts'
import { changesOf } from '../platform/directory/audit.ts'
import { putMapping, readMapping, STATUSES } from '../platform/directory/status-maps.ts'
import { operation } from '../platform/http/operation.ts'
import { validationFailed } from '../platform/http/read-fields.ts'
import { described } from '../platform/validation/described.ts'
import * as f from '../platform/validation/fields.ts'
import { isObject } from '../platform/validation/record-validator.ts'
import { validateField } from '../platform/validation/strict-object.ts'
import { changeSettings } from './change-settings.ts'

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

const ofStatusMap = { topic: 'definitions', path: '/status-map' } as const

export const getStatusMap = operation({
  ...ofStatusMap,
  id: 'getStatusMap',
  shows: 'account',
  method: 'GET',
  words: described(() => ({
    description:
      "Returns the partner's words for the status of a transaction with the meaning of each.",
    answer: v.object({ status }),
    command: { name: 'status-map get' },
  })),
  run: async ({ env, account }) => ({ status: await readMapping(env.DB, account.id) }),
})

export const putStatusMap = operation({
  ...ofStatusMap,
  id: 'putStatusMap',
  shows: 'account',
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
    const { env, account } = call
    const map = readStatusMap(sent.status)
    const before = { status: await readMapping(env.DB, account.id) }
    const details = { changes: changesOf(before, { status: map }) }
    await changeSettings(call, 'status.put', details, putMapping(env.DB, account.id, map))
    // A failure is no error: the map counts at once, and only warnings wait for the cron.
    await propagateSettings(env, account.id)
    return { status: map }
  },
})

/** The operations on what the statuses of a partner mean. */
export const MAPPING_OPERATIONS = [getStatusMap, putStatusMap]
