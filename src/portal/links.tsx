import type { Context } from 'hono'
import { changeOwnLink, createOwnLink, getOwnLink, listOwnLinks } from '../affiliates/links.ts'
import { getAffiliateSelf } from '../affiliates/me.ts'
import { MAX_ACTIVE_LINKS } from '../attribution/db/links.ts'
import { dayBefore, type Values } from '../pages/base/page.ts'
import { respond } from '../pages/base/respond.ts'
import { Data } from '../pages/parts/data.tsx'
import { FigureCard } from '../pages/parts/figures.tsx'
import { type Cell, Table } from '../pages/parts/table.tsx'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { ApiError } from '../platform/errors.ts'
import type { AnswerOf } from '../platform/http/operation.ts'
import { fill } from '../platform/languages.ts'
import { getReport } from '../reports/operations.ts'
import { metricsOf } from '../reports/report.ts'
import { Copied, changesOf, MemberForm, type Refused } from './form.tsx'
import { portalPath } from './layout.tsx'
import { MemberPage, NextPage } from './member-page.tsx'
import { type MemberVisit, useMemberVisit } from './visit.ts'

type Link = AnswerOf<typeof getOwnLink>

/** The figures of a link. */
type Figures = AnswerOf<typeof getReport>['data'][number]

const AT = '/links'

/** The days of the figures, today included. */
const DAYS = 30

const linkPath = ({ account }: MemberVisit, { link_id }: Pick<Link, 'link_id'>) =>
  `${portalPath(account.id, AT)}?${new URLSearchParams({ link: link_id })}`

/** What the metrics of links are called. */
const METRIC_WORDS = new Map<string, 'clicks' | 'signups' | 'first_deposits'>([
  ['clicks', 'clicks'],
  ['signups', 'signups'],
  ['first_deposit_count', 'first_deposits'],
])

/** The metrics of links, with the words of each. */
const linkMetrics = ({ words, account }: MemberVisit): readonly (readonly [string, string])[] =>
  metricsOf(account.vertical).flatMap(({ name }) => {
    const word = METRIC_WORDS.get(name)
    return word ? [[name, words[word]] as const] : []
  })

/** Reads the figures of all links. A report of a very large account is refused: then the page has none. */
async function readFigures(visit: MemberVisit): Promise<readonly Figures[] | null> {
  const query = {
    from: dayBefore(visit.today, DAYS - 1),
    to: dayBefore(visit.today, 0),
    group_by: 'link',
    metrics: linkMetrics(visit)
      .map(([name]) => name)
      .join(),
  }
  try {
    return (await visit.call(getReport, query)).data
  } catch (error) {
    if (error instanceof ApiError && error.code === 'validation_failed') return null
    throw error
  }
}

const figureText = (
  { speech }: MemberVisit,
  figures: readonly Figures[] | null,
  { link_id }: Link,
  name: string,
): string => {
  const found = figures?.find(({ groups }) => groups.link === link_id)
  return figures === null ? '–' : speech.figure(String(found?.metrics[name] ?? 0))
}

function State({ link }: { link: Link }, { words, account } = useMemberVisit()) {
  if (!link.disabled) return <small class="badge good">{words.link_on}</small>
  const text = link.disabled_by === 'team' ? words.link_off_by_firm : words.link_off
  return <small class="badge warn">{fill(text, { account: account.name })}</small>
}

/** Renders the form of a new link, or of a stored one. */
const LinkForm = (
  { pages, refused, link }: { pages: readonly string[]; refused: Refused | null; link?: Link },
  { words } = useMemberVisit(),
) => {
  const isPassed = refused ? refused.values('pass_query') === 'yes' : link?.pass_query
  return (
    <MemberForm
      at={AT}
      values={link ? { change: 'save', link: link.link_id } : { change: 'make' }}
      submit={link ? words.save : words.make_link}
      refused={refused}
      fields={[
        {
          name: 'landing_page',
          label: words.landing_page,
          type: 'url',
          required: true,
          value: link?.landing_page ?? pages[0],
          hint: `${words.landing_page_hint} ${pages.join(' ')}`,
          attributes: { list: 'landing_pages' },
        },
        {
          name: 'name',
          label: words.link_name,
          value: link?.name ?? '',
          hint: words.link_name_hint,
          attributes: { maxlength: 100 },
        },
      ]}
    >
      <datalist id="landing_pages">
        {pages.map((page) => (
          <option value={page} />
        ))}
      </datalist>
      <label class="check">
        <input type="checkbox" name="pass_query" value="yes" checked={isPassed} />{' '}
        {words.pass_query}
      </label>
    </MemberForm>
  )
}

/** Returns a link of the affiliate. Throws `not_found` if there is none. */
const readLink = (visit: MemberVisit, id: string) => visit.call(getOwnLink, { link_id: id })

const DONE = ['made', 'saved', 'on', 'off'] as const

/** Responds with the links of the affiliate, or with the one that the address names. */
export async function showLinks(
  c: Context<AppEnv>,
  visit: MemberVisit,
  refused: Refused | null = null,
): Promise<Response> {
  const { words, account } = visit
  const id = refused ? refused.values('link') : (c.req.query('link') ?? '')
  const done = DONE.find((one) => one === c.req.query('done'))
  const [{ landing_pages: pages }, figures, found] = await Promise.all([
    visit.call(getAffiliateSelf, {}),
    readFigures(visit),
    id ? readLink(visit, id) : visit.call(listOwnLinks, { cursor: c.req.query('cursor') }),
  ])
  const title = 'link_id' in found ? (found.name ?? found.link_id) : words.links
  return respond(
    c,
    <MemberPage visit={visit} here="links" title={title} done={done && words[`link_done_${done}`]}>
      {'link_id' in found ? (
        <>
          <p>
            <State link={found} />
          </p>
          <p>
            <Copied text={found.url} />
          </p>
          <div class="figure-cards">
            {linkMetrics(visit).map(([name, title]) => (
              <FigureCard title={title}>
                <p class="big">{figureText(visit, figures, found, name)}</p>
                <p class="note">{words.last_days}</p>
              </FigureCard>
            ))}
          </div>
          <section>
            <h2>{words.campaigns}</h2>
            <p>{words.campaigns_lead}</p>
            <p>
              <Copied text={`${found.url}?sub1=newsletter&sub2=button`} />
            </p>
          </section>
          <h2>{words.change_link}</h2>
          <LinkForm pages={pages} refused={refused} link={found} />
          {found.disabled_by === 'team' ? (
            <p class="note">{fill(words.link_locked, { account: account.name })}</p>
          ) : (
            <MemberForm
              at={AT}
              values={{ change: found.disabled ? 'on' : 'off', link: found.link_id }}
              submit={found.disabled ? words.turn_on : words.turn_off}
              isPlain
            >
              {!found.disabled && <p class="note">{words.turn_off_hint}</p>}
            </MemberForm>
          )}
          <p>
            <a href={portalPath(account.id, AT)}>{words.all_links}</a>
          </p>
        </>
      ) : (
        <>
          <Table
            caption={fill(words.links_caption, { days: String(DAYS) })}
            rows={found.data}
            columns={{
              [words.link]: (link) => (
                <>
                  <a href={linkPath(visit, link)}>
                    <Data text={link.name ?? link.link_id} />
                  </a>
                  {link.disabled && (
                    <>
                      {' '}
                      <State link={link} />
                    </>
                  )}
                  <small class="place">
                    <Data text={link.landing_page} />
                  </small>
                </>
              ),
              [words.link_address]: (link) => <Copied text={link.url} />,
              ...Object.fromEntries(
                linkMetrics(visit).map(([name, title]): [string, Cell<Link>] => [
                  title,
                  { number: (link) => figureText(visit, figures, link, name) },
                ]),
              ),
            }}
            empty={<p class="note">{words.no_links}</p>}
          />
          <NextPage at={AT} cursor={found.meta.next_cursor} />
          <section id="make">
            <h2>{words.make_link}</h2>
            {pages.length === 0 ? (
              <p class="note">{fill(words.no_landing_pages, { account: account.name })}</p>
            ) : (
              <LinkForm pages={pages} refused={refused} />
            )}
          </section>
        </>
      )}
    </MemberPage>,
    refused ? 422 : 200,
  )
}

/** Returns why a link was refused, in the language of the affiliate. */
function problemOf({ words, account }: MemberVisit, error: ApiError): string {
  const [first] = (error.details.errors ?? []) as { code?: string; pointer?: string }[]
  if (first?.code === 'maximum') return fill(words.link_full, { count: String(MAX_ACTIVE_LINKS) })
  if (first?.pointer === '/landing_page') return words.link_page_refused
  if (first?.pointer === '/name') return words.link_name_refused
  if (first?.pointer === '/disabled') return fill(words.link_locked, { account: account.name })
  throw error
}

/** Makes or changes a link. Returns the address of its page. */
async function makeChange(visit: MemberVisit, values: Values): Promise<string> {
  const [change, link_id] = [values('change'), values('link')]
  const landing_page = values('landing_page').trim()
  const pass_query = values('pass_query') === 'yes'
  const name = values('name').trim()
  const to = (link: Pick<Link, 'link_id'>, done: (typeof DONE)[number]) =>
    `${linkPath(visit, link)}&${new URLSearchParams({ done })}`
  if (change === 'make') {
    const link = { landing_page, pass_query, ...(name && { name }) }
    return to(await visit.call(createOwnLink, link), 'made')
  }
  if (link_id === '') throw new ApiError('not_found')
  if (change === 'save') {
    // A page that the firm no longer allows stays until the affiliate chooses another.
    const stored = await readLink(visit, link_id)
    const moved = landing_page === stored.landing_page ? {} : { landing_page }
    return to(
      await visit.call(changeOwnLink, { link_id, ...moved, pass_query, name: name || null }),
      'saved',
    )
  }
  if (change !== 'on' && change !== 'off') throw new ApiError('not_found')
  return to(await visit.call(changeOwnLink, { link_id, disabled: change === 'off' }), change)
}

/** Makes or changes a link. */
export const changeLinks = changesOf({ make: makeChange, problemOf, show: showLinks })
