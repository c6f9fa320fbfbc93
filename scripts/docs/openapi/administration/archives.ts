import { archivedMonth } from '../../../../src/admin/archive-fields.ts'
import { documented, object } from '../../envelopes.ts'
import { closedObject } from '../../json-schema.ts'
import type { JsonSchema } from '../../types.ts'
import { type Operation, PAGING, ref } from '../operation.ts'
import { COUNT, oneOf, orNull, TEXT, TIME } from '../shapes.ts'
import { ACCOUNT_PATH, AT, operation, paged, returned } from './operation.ts'

const ARCHIVES_PATH = `${ACCOUNT_PATH}/archives`

const MONTH = documented('The month of the calendar, such as `2024-03`.')

const RESOURCE = documented(
  'The resource.',
  oneOf('transactions', 'trading-activity', 'activities'),
)

/** The schemas of archived months. */
export const ARCHIVE_SCHEMAS: Record<string, JsonSchema> = {
  ArchivedMonth: object({
    month: MONTH,
    resource: RESOURCE,
    state: documented(
      '`being_archived`: its records are written to objects, and leave the database. `archived`: they have left it. `being_restored`: they come back.',
      oneOf('being_archived', 'archived', 'being_restored'),
    ),
    records: documented(
      'The number of its records. Null while the objects are written.',
      orNull(COUNT),
    ),
    bytes: documented('The size of its objects together.', COUNT),
    objects: documented('The Parquet objects in the bucket `ARCHIVE`, in the order of days.', {
      type: 'array',
      items: object({
        key: documented('The key of the object in the bucket.'),
        sha256: documented('The SHA-256 of its bytes.'),
        bytes: documented('Its size.', COUNT),
        records: documented('The number of its records.', COUNT),
      }),
    }),
    totals: documented(
      'Its control totals: for each group of records their number and their sums, as `GET …/totals` has them for days. Null while no object is written, and if they are too large.',
      orNull({
        type: 'array',
        items: {
          type: 'object',
          required: ['count', 'sums'],
          additionalProperties: orNull(TEXT),
          properties: {
            count: documented('The number of records.', COUNT),
            sums: documented('The exact sums as decimal text, by column.', {
              type: 'object',
              additionalProperties: TEXT,
            }),
          },
        },
      }),
    ),
    first_delivery_id: documented(
      'The first delivery that wrote one of these records. Null without objects.',
      orNull(TEXT),
    ),
    last_delivery_id: documented(
      'The last delivery that wrote one of these records. Null without objects.',
      orNull(TEXT),
    ),
    begun_at: documented('When the first object was begun.', TIME),
    archived_at: documented('When all objects were complete. Null before.', orNull(TIME)),
    wanted_at: documented(
      'When the records were first needed again. Null if they are not.',
      orNull(TIME),
    ),
    damaged_object: documented(
      'The key of an object that is damaged or missing, so that the records cannot come back. Null if there is none.',
      orNull(TEXT),
    ),
  }),
  KeptMonths: object({
    archive_after: documented('The setting of the account. Null: never.', orNull(COUNT)),
    first_month: documented(
      'The first month that stays in the database. Null: all stay.',
      orNull(TEXT),
    ),
    kept_for: documented(
      'What reads records of more days than the setting keeps. Null if nothing does.',
      orNull(
        object({
          days: documented('The days that it looks back.', COUNT),
          plan: documented('The plan. Null if it is a fraud rule.', orNull(TEXT)),
          fraud_rule: documented('The fraud rule. Null if it is a plan.', orNull(TEXT)),
        }),
      ),
    ),
    data: documented('The months before that one which are in the database.', {
      type: 'array',
      items: object({
        month: MONTH,
        resource: RESOURCE,
        reason: documented(
          'Why the month is not archived, in a sentence. Null: it is archived soon, some months a day.',
          orNull(TEXT),
        ),
      }),
    }),
  }),
  ArchiveRequest: object({
    month: MONTH,
    resources: documented(
      'The resources whose records leave or come back; empty if there are none.',
      {
        type: 'array',
        items: TEXT,
      },
    ),
  }),
}

const accepted = (description: string) => ({ 202: { description, schema: ref('ArchiveRequest') } })

/** Lists the operations on months that leave the database for the archive. */
export const archives = (): Operation[] => [
  operation({
    method: 'get',
    path: ARCHIVES_PATH,
    id: 'listArchives',
    summary: 'List the archived months of an account',
    description:
      'Lists the months whose records have left the database for Parquet objects, or leave it or come back, the first one first. A month that is back is not listed.',
    parameters: PAGING,
    answers: paged('One page of archived months.', ref('ArchivedMonth')),
  }),
  operation({
    method: 'get',
    path: `${ARCHIVES_PATH}/kept`,
    id: 'getKeptMonths',
    summary: 'Find out which months stay in the database',
    description:
      'Returns the first month that is too young for the archive, and each older one that is in the database with the reason.',
    answers: returned('The months that stay.', ref('KeptMonths')),
  }),
  operation({
    method: 'post',
    path: ARCHIVES_PATH,
    id: 'archiveMonth',
    summary: 'Archive a month',
    description:
      'Has the records of a month leave the database now; every day this happens by itself to some months that are old enough. 409 says what keeps the month in the database. A month that is archived already stays as it is.',
    body: { schema: closedObject(archivedMonth, AT) },
    answers: accepted('The month, whose records leave within half an hour.'),
    errors: ['conflict'],
  }),
  operation({
    method: 'post',
    path: `${ARCHIVES_PATH}/{month}/restore`,
    id: 'restoreMonth',
    summary: 'Bring an archived month back',
    description:
      'Has the records of a month come back to the database. They stay for 30 days, unless somebody archives the month. Records that a request needs come back by themselves.',
    body: { schema: closedObject({}, AT), required: false },
    answers: accepted('The month, whose records come back within minutes.'),
  }),
]
