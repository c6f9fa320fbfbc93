import { listAffiliates } from '../../admin/affiliates.ts'
import { listLinks } from '../../admin/links.ts'
import { findRecords } from '../../admin/records.ts'
import { searchAccounts } from '../../admin/search.ts'
import { listed } from '../../commission/engine/reasons.ts'
import { listStatements } from '../../commission/statements/operations.ts'
import { accountPath, type Page, type Visit } from '../page.ts'
import { Badge, Data, EmptyState, isolated } from '../parts/data.tsx'
import { deliveriesPath } from '../parts/deliveries.tsx'
import { nounOf } from '../parts/record-fields.tsx'
import { type FoundRecord, findPath, recordPath } from '../parts/record-lookup.ts'
import { Table } from '../parts/table.tsx'

/** Something of the account that was found. */
interface Choice {
  readonly noun: string
  readonly path: string
  /** The id, and the name of an affiliate. */
  readonly text: string
  readonly day: string | null
  readonly isHeld: boolean
}

/** Returns whether an affiliate with this id is configured, or has statements. */
async function isAffiliate({ api, account }: Visit, affiliate_id: string): Promise<boolean> {
  const own = { affiliate_id, per_page: 1 }
  const lists = await Promise.all([
    api.call(listAffiliates, { account, affiliate_id }),
    api.call(listStatements, { account, ...own }),
    api.call(listLinks, { account, ...own }),
  ])
  return lists.some(({ data }) => data.length > 0)
}

const affiliateChoice = (account: string, id: string, ...more: readonly string[]): Choice => ({
  noun: 'Affiliate',
  path: accountPath(account, 'affiliates', id),
  text: [id, ...more].join(', '),
  day: null,
  isHeld: false,
})

const recordChoices = (account: string, records: readonly FoundRecord[]): Choice[] =>
  records.map((one) => ({
    noun: nounOf(one.resource, one.record),
    path: recordPath(account, one.resource, one.id),
    text: one.id.replace(/^[ed] /, ''),
    day: one.day,
    isHeld: one.outcome === 'held',
  }))

/** Finds what has an id: stored records of all resources, and an affiliate. */
async function findExact(visit: Visit, id: string): Promise<Choice[]> {
  const { api, account } = visit
  const [{ data }, affiliate] = await Promise.all([
    api.call(findRecords, { account, id }),
    isAffiliate(visit, id),
  ])
  return [...(affiliate ? [affiliateChoice(account, id)] : []), ...recordChoices(account, data)]
}

/** The number of affiliates that a beginning finds. */
const MAX_AFFILIATES = 10

/** Finds what begins with a text: the ids of records, and ids, names and addresses of affiliates. */
async function findBeginning(visit: Visit, text: string): Promise<Choice[]> {
  const { api, account } = visit
  const [affiliates, records] = await Promise.all([
    api.call(listAffiliates, { account, beginning: text, per_page: MAX_AFFILIATES }),
    api.call(findRecords, { account, id: text, match: 'beginning' }),
  ])
  const found = affiliates.data.map(({ affiliate_id, display_name, contact_email }) =>
    affiliateChoice(
      account,
      affiliate_id,
      ...[display_name, contact_email].flatMap((one) => one ?? []),
    ),
  )
  return [...found, ...recordChoices(account, records.data)]
}

/** The form of the ids of deliveries, which no sender chooses. */
const IS_DELIVERY = /^dlv_[0-9A-Z]{26}$/

/** Leads from an id to the page of what has it. Several such, and what only begins with it, are choices. */
export const findPage: Page = {
  path: '/accounts/:account/find',
  section: 'Customers',
  query: ['record_id'],
  async render(visit) {
    // Spaces around an id were pasted with it.
    const id = visit.query.record_id?.trim()
    if (!id) {
      const body = (
        <EmptyState title="Enter an id above.">
          <p>
            The id of a transaction, an event, a customer or an affiliate, or its beginning; or the
            name or email of an affiliate.
          </p>
        </EmptyState>
      )
      return { title: 'Find a record', body }
    }
    if (IS_DELIVERY.test(id)) {
      return { title: 'Delivery', body: '', next: accountPath(visit.account, 'deliveries', id) }
    }
    const [exact, beginning, everywhere] = await Promise.all([
      findExact(visit, id),
      findBeginning(visit, id),
      visit.api.call(searchAccounts, { id }),
    ])
    const isExact = ({ path }: Choice) => exact.some((one) => one.path === path)
    const choices = [...exact, ...beginning.filter((one) => !isExact(one))]
    const [only] = choices.length === 1 ? choices : []
    // What is not stored may have been refused: the log of deliveries knows.
    const refused = deliveriesPath(visit.account, { record_id: id })
    const others = everywhere.data.filter(({ account }) => account !== visit.account)
    const isNowhere = choices.length === 0 && others.length === 0
    const next = only?.path ?? (isNowhere ? refused : undefined)
    return {
      title: `Find ${isolated(id)}`,
      body:
        choices.length > 0 ? (
          <>
            <Table
              caption={`What has or begins with ${isolated(id)}`}
              rows={choices}
              columns={{
                Found: ({ text: found, path }) => (
                  <a href={path}>
                    <Data text={found} />
                  </a>
                ),
                'What it is': ({ noun, isHeld }) => (
                  <>
                    <Data text={noun} /> {isHeld && <Badge tone="warn">Held</Badge>}
                  </>
                ),
                Day: 'day',
              }}
            />
            <p class="note">
              The first ten of each kind are listed. Enter more of the text to find others.
            </p>
          </>
        ) : (
          <EmptyState title={`Nothing in this account has or begins with ${isolated(id)}.`}>
            <p>{others.length === 1 ? 'Another account has it:' : 'Other accounts have it:'}</p>
            <ul>
              {others.map(({ account, name, found }) => (
                <li>
                  <a href={findPath(account, id)}>
                    <Data text={name} />
                  </a>
                  : {listed(found.map((noun) => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`))}
                </li>
              ))}
            </ul>
            <p>
              <a href={deliveriesPath(visit.account, { record_id: id })}>
                Search the deliveries of this account
              </a>{' '}
              for a record that was refused.
            </p>
          </EmptyState>
        ),
      ...(next !== undefined && { next }),
    }
  },
}
