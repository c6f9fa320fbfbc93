import type { ErrorCode } from '../../../src/errors.ts'
import type { Entity } from '../entities.ts'
import type { JsonSchema } from '../types.ts'
import {
  allOf,
  LISTED,
  listOf,
  type Operation,
  PAGING,
  pascal,
  READ,
  ref,
  type Who,
} from './operation.ts'

const oneOfMany = (all: readonly JsonSchema[]): JsonSchema =>
  all.length === 1 ? all[0]! : { anyOf: all }

/** A record that waits, and where it came from. */
const held = (entities: readonly Entity[]): JsonSchema => ({
  type: 'object',
  properties: {
    resource: { type: 'string', description: 'The noun in its address.' },
    received_at: { type: 'string', format: 'date-time' },
    delivery_id: ref('DeliveryId'),
    record: oneOfMany(entities.map(({ component }) => ref(component))),
  },
  required: ['resource', 'received_at', 'delivery_id', 'record'],
})

/** What may be asked about what was sent: by the account, and by the team that keeps it. */
export function deskOf(
  at: string,
  who: Who,
  tag: string,
  entities: readonly Entity[],
  total: JsonSchema,
): Operation[] {
  const isTeam = who === 'team'
  const id = (verb: string, noun: string) => `${verb}${pascal(isTeam ? 'account' : tag)}${noun}`
  const bookmark = ['x-d1-bookmark']
  const own = isTeam ? ['account'] : []
  const op = (
    path: string,
    verb: string,
    noun: string,
    summary: string,
    description: string,
    parameters: readonly string[],
    answer: { description: string; schema: JsonSchema; headers: readonly string[] },
    fails: readonly ErrorCode[] = [],
  ): Operation => ({
    method: 'get',
    path: `${at}/${path}`,
    id: id(verb, noun),
    tag,
    summary,
    description,
    who,
    parameters: [...own, ...parameters, ...bookmark],
    answers: { 200: answer },
    fails: ['invalid_query', ...(isTeam ? (['not_found'] as const) : []), ...fails],
  })
  const waiting = entities.filter(({ resource }) => resource !== 'customers')
  return [
    op(
      'deliveries',
      'list',
      'Deliveries',
      'List deliveries',
      'What arrived in the last 30 days, newest first: requests that passed authentication, scope and rate, and whose body was JSON. Never the bodies.',
      PAGING,
      { description: 'One page of deliveries.', schema: listOf(ref('Delivery')), headers: LISTED },
    ),
    op(
      'deliveries/{delivery_id}',
      'get',
      'Delivery',
      'Get one delivery',
      'The same, with the first 100 errors of what was refused.',
      ['delivery_id'],
      { description: 'The delivery.', schema: ref('DeliveryInFull'), headers: READ },
      isTeam ? [] : ['not_found'],
    ),
    op(
      'totals',
      'get',
      'Totals',
      'Control totals',
      'Counts and exact sums of each day, to reconcile with your own books. Nothing is converted, and what is held is not counted.',
      ['from_day', 'to_day'],
      {
        description: 'All groups of these days, in order.',
        schema: allOf(total),
        headers: READ,
      },
    ),
    op(
      'held',
      'list',
      'Held',
      'List what is held',
      'Records that wait for their customer. They are counted nowhere until it arrives, and then released by themselves.',
      PAGING,
      { description: 'One page of held records.', schema: listOf(held(waiting)), headers: LISTED },
    ),
    op(
      'feed',
      'get',
      'Feed',
      'How fresh the data is',
      "Of each resource: the last delivery, the lag, the share refused in the last day, and whether yesterday's activity came by 06:00 UTC.",
      [],
      {
        description: 'One line a resource.',
        schema: allOf(ref('Feed')),
        headers: READ,
      },
    ),
  ]
}
