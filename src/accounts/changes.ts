import * as v from 'valibot'
import { dayNumber } from '../commission/engine/calendar.ts'
import { MOST_CHANGES, readChanges } from '../ingest/db/changes.ts'
import { DAY_MS } from '../platform/durations.ts'
import { accountOperation } from '../platform/http/operation.ts'
import { count, day, time } from '../platform/validation/answer-fields.ts'
import { described } from '../platform/validation/described.ts'
import { member } from '../platform/validation/fields.ts'
import { bookZoneOf, dayInZone, instantOfLocalTime } from '../platform/zone.ts'

export const getChanges = accountOperation({
  id: 'getChanges',
  topic: 'monitoring',
  method: 'GET',
  path: '/changes',
  role: 'viewer',
  words: described(() => ({
    description: `Counts what has changed in an account since the start of yesterday, in the time zone of its records: at most ${MOST_CHANGES.toLocaleString('en')} of a kind.`,
    answer: v.object({
      since: member(time, 'When yesterday began, in the time zone of the records.'),
      yesterday: member(day, 'The day of yesterday.'),
      signups: member(count, 'Customers whose signup is of yesterday or later.'),
      records: member(count, 'Records that arrived, by the hour of their delivery.'),
      approved_statements: member(count, 'Statements that were approved.'),
      cases_opened: member(count, 'Cases of the fraud review that opened for yesterday or later.'),
    }),
    command: { name: 'changes' },
  })),
  async run({ account, db }) {
    const zone = bookZoneOf(account)
    const yesterday = dayNumber(dayInZone(zone, Date.now())) - 1
    const { instant } = instantOfLocalTime(zone, yesterday * DAY_MS)
    return {
      since: new Date(instant).toISOString(),
      yesterday: dayInZone('UTC', yesterday * DAY_MS),
      ...(await readChanges(db, account.id, { day: yesterday, at: instant })),
    }
  },
})
