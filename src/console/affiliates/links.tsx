import { linkChange, newLink } from '../../attribution/operations/link-fields.ts'
import { changeLink, createLink, getLink, listLinks } from '../../attribution/operations/links.ts'
import { calling } from '../../pages/calling.ts'
import { accountPath, dayBefore, type Page, type Visit, withQuery } from '../../pages/page.ts'
import { Badge, CopiedText, count, EmptyState, Name, Pager } from '../../pages/parts/data.tsx'
import { DeferredPart } from '../../pages/parts/deferred.tsx'
import { LINK_WORDS } from '../../pages/parts/field-words.ts'
import { Facts } from '../../pages/parts/fields.tsx'
import { SchemaForm } from '../../pages/parts/schema-fields.tsx'
import { Table } from '../../pages/parts/table.tsx'
import { AccountTabs } from '../../pages/parts/tabs.tsx'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { getReport } from '../../reports/operations.ts'
import { nullIfTooLarge } from '../reports/report.tsx'

/** The days whose clicks are counted, today included. */
const DAYS = 30

type Link = AnswerOf<typeof getLink>

/** Reads how often each link was followed. A report of a very large account is refused: then the page has none. */
const readClicks = ({ api, account, today }: Visit) => {
  const days = { from: dayBefore(today, DAYS - 1), to: dayBefore(today, 0) }
  const query = { account, ...days, metrics: 'clicks', group_by: 'link' }
  return api.call(getReport, query).catch(nullIfTooLarge)
}

const State = ({ link: { disabled, disabled_by } }: { link: Link }) => {
  if (!disabled) return <Badge tone="good">active</Badge>
  const by = disabled_by === 'affiliate' ? ' by the affiliate' : ''
  return <Badge tone="bad">disabled{by}</Badge>
}

/** The links of an account: creation, clicks and changes. */
export const linksPage: Page = {
  path: '/accounts/:account/links',
  section: 'Account',
  query: ['link_id', 'cursor'],
  changes: {
    create: {
      ...calling(createLink, 'The link was created. Give its address to the affiliate.'),
      next: (answer, { path }) => withQuery(path, { link_id: (answer as Link).link_id }),
    },
    save: calling(changeLink, 'The link is saved. Visitors notice it within a minute.'),
  },
  async render(visit) {
    const { api, account, query } = visit
    const { link_id: id, cursor } = query
    const found = await (id
      ? api.call(getLink, { account, link_id: id })
      : api.call(listLinks, { account, cursor }))
    const body =
      'link_id' in found ? (
        <>
          <AccountTabs here="Links" />
          <h2>
            <Name text={found.name ?? found.link_id} />
          </h2>
          <p class="with-copy">
            <CopiedText text={found.url} />
          </p>
          <DeferredPart />
          <h2>Change the link</h2>
          <SchemaForm
            change="save"
            submit="Save the link"
            schemas={linkChange}
            words={LINK_WORDS}
            values={{ ...found }}
          />
          <p>
            <a href={visit.path}>All links</a>
          </p>
        </>
      ) : (
        <>
          <AccountTabs here="Links" />
          <DeferredPart />
          <Pager meta={found.meta} />
          <h2>Create a link</h2>
          <SchemaForm
            change="create"
            submit="Create the link"
            schemas={newLink}
            words={LINK_WORDS}
          />
        </>
      )
    return { title: 'Links', body, computeDeferred: () => renderClicks(visit, found) }
  },
}

/** Renders the links of a page, or the facts of one, with how often each was followed. */
async function renderClicks(visit: Visit, found: Link | AnswerOf<typeof listLinks>) {
  const report = await readClicks(visit)
  const byLink = new Map(report?.data.map(({ groups, metrics }) => [groups.link, metrics.clicks]))
  const clicksOf = ({ link_id }: Link) => (report ? count(Number(byLink.get(link_id) ?? 0)) : '–')
  const to = ({ link_id }: Link) => withQuery(visit.path, { link_id })
  return 'link_id' in found ? (
    <Facts
      row={found}
      names={['affiliate_id', 'created_at']}
      more={[
        ['State', <State link={found} />],
        [`Clicks in ${DAYS} days`, clicksOf(found)],
      ]}
    />
  ) : (
    <Table
      caption="Links, and how often they were followed"
      rows={found.data}
      columns={{
        Link: (link) => (
          <a href={to(link)}>
            <Name text={link.name ?? link.link_id} />
          </a>
        ),
        Address: ({ url }) => <code>{url}</code>,
        Affiliate: 'affiliate_id',
        'Landing page': 'landing_page',
        [`Clicks in ${DAYS} days`]: {
          number: (link) => <a href={to(link)}>{clicksOf(link)}</a>,
        },
        State: (link) => <State link={link} />,
      }}
      empty={
        <EmptyState title="The account has no links yet.">
          <p>
            A link brings visitors to a landing page and pays its affiliate. The affiliate must be{' '}
            <a href={accountPath(visit.account, 'affiliates')}>configured</a> first.
          </p>
        </EmptyState>
      }
    />
  )
}
