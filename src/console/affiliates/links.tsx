import { linkChange, newLink } from '../../attribution/operations/link-fields.ts'
import { changeLink, createLink, getLink, listLinks } from '../../attribution/operations/links.ts'
import { type Page, type View, type Visit, withQuery } from '../../pages/base/page.ts'
import { calling } from '../../pages/calling.ts'
import { Badge, CopiedText, Data, EmptyState, isolated, Pager } from '../../pages/parts/data.tsx'
import { AccountLink, Facts } from '../../pages/parts/fields.tsx'
import { Filters } from '../../pages/parts/forms.tsx'
import { SchemaForm } from '../../pages/parts/schema-fields.tsx'
import { Table } from '../../pages/parts/table.tsx'
import { AccountTabs } from '../../pages/parts/tabs.tsx'
import type { AnswerOf } from '../../platform/http/operation.ts'

type Link = AnswerOf<typeof getLink>

const State = ({ link: { disabled, disabled_by } }: { link: Link }) => {
  if (!disabled) return <Badge tone="good">active</Badge>
  const by = disabled_by === 'affiliate' ? ' by the affiliate' : ''
  return <Badge tone="bad">disabled{by}</Badge>
}

/** The links of an account: creation and changes. */
export const linksPage: Page = {
  path: '/accounts/:account/links',
  shows: 'affiliate',
  section: 'Account',
  query: ['link_id', 'affiliate_id', 'cursor'],
  changes: {
    create: {
      ...calling(createLink, 'The link was created. Give its address to the affiliate.'),
      next: (answer, { path }) => withQuery(path, { link_id: (answer as Link).link_id }),
    },
    save: calling(changeLink, 'The link is saved. Visitors notice it within a minute.'),
  },
  async render(visit) {
    const { api, account } = visit
    const { link_id, affiliate_id, cursor } = visit.query
    return link_id === undefined
      ? renderList(await api.call(listLinks, { account, affiliate_id, cursor }), visit)
      : renderLink(await api.call(getLink, { account, link_id }))
  },
}

const renderLink = (found: Link): View => ({
  title: found.name === null ? 'Link' : isolated(found.name),
  body: (
    <>
      <AccountTabs here="Links" />
      <p class="with-copy">
        <CopiedText text={found.url} />
      </p>
      <Facts
        row={found}
        names={['affiliate_id', 'created_at']}
        more={[['State', <State link={found} />]]}
      />
      <SchemaForm change="save" submit="Save the link" schemas={linkChange} values={{ ...found }} />
    </>
  ),
})

const renderList = (found: AnswerOf<typeof listLinks>, { query, path }: Visit): View => ({
  title: 'Links',
  body: (
    <>
      <AccountTabs here="Links" />
      <Filters fields={[{ name: 'affiliate_id' }]} />
      <Table
        caption="Links"
        rows={found.data}
        columns={{
          Link: (link) => (
            <a href={withQuery(path, { link_id: link.link_id })}>
              <Data text={link.name ?? link.link_id} />
            </a>
          ),
          Address: ({ url }) => <code>{url}</code>,
          Affiliate: 'affiliate_id',
          'Landing page': 'landing_page',
          State: (link) => <State link={link} />,
        }}
        empty={
          <EmptyState title="There are no links yet.">
            <p>A link brings visitors to a landing page and pays its affiliate.</p>
          </EmptyState>
        }
      />
      <Pager meta={found.meta} />
      <p>
        <AccountLink at={['reports']} query={{ group_by: 'link', metrics: 'clicks' }}>
          How often they were followed
        </AccountLink>
      </p>
      <h2>Create a link</h2>
      <SchemaForm
        change="create"
        submit="Create the link"
        schemas={newLink}
        values={{ affiliate_id: query.affiliate_id }}
        sendsAll
      />
    </>
  ),
})
