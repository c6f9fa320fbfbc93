import type { FactResource } from '../../commission/engine/facts.ts'
import { Data, dayWords } from './data.tsx'
import { recordPath } from './record-lookup.ts'

/** A record as lists of the administration API name it. */
export interface Named {
  readonly resource: FactResource
  readonly id: string
  readonly day: string
  readonly customer_id?: string
}

/**
 * Returns what a record is called in a list. Trading activity has no id of its own, and events of a day have
 * a key that is not for people.
 */
export function recordName({ resource, id, day, customer_id = '' }: Named): string {
  if (resource === 'activities')
    return id.startsWith('e ') ? id.slice(2) : `Event of ${dayWords(day)}`
  if (resource !== 'trading-activity') return id
  // The key is `date|customer_id|instrument|currency`.
  const rest = id.slice(`${day}|${customer_id}|`.length)
  return `${rest.slice(0, rest.lastIndexOf('|'))}, ${dayWords(day)}`
}

/** Renders a link to the page of a record. */
export const RecordLink = ({ account, record }: { account: string; record: Named }) => (
  <a href={recordPath(account, record.resource, record.id)}>
    <Data text={recordName(record)} />
  </a>
)
