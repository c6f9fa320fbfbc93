import type { Context } from 'hono'
import type { Child } from 'hono/jsx'
import { changeOwnLink, createOwnLink, getOwnLink, listOwnLinks } from '../affiliate/links.ts'
import { getAffiliateSelf } from '../affiliate/me.ts'
import type { AppEnv } from '../auth/authorize.ts'
import { dayBefore } from '../console/page.ts'
import { Data } from '../console/parts/data.tsx'
import { FigureCard } from '../console/parts/figures.tsx'
import { type Cell, Table } from '../console/parts/table.tsx'
import { respond, textOf } from '../console/respond.ts'
import { MAX_ACTIVE_LINKS } from '../db/directory/links.ts'
import { ApiError } from '../errors.ts'
import type { AnswerOf } from '../http/operation.ts'
import { getReport } from '../reports/operations.ts'
import type { Figures as ReportFigures } from '../reports/report.ts'
import { CampaignLinks, linkMetrics } from './campaigns.tsx'
import { Copied, MemberForm, type Refused } from './form.tsx'
import { Problem, portalPath } from './layout.tsx'
import { MemberPage, NextPage } from './member-page.tsx'
import { QrCode } from './qr-code.tsx'
import { readMemberForm } from './sign-in.tsx'
import type { MemberVisit } from './visit.ts'
import { fill } from './words.ts'

type Links = AnswerOf<typeof listOwnLinks>
type Link = AnswerOf<typeof getOwnLink>

/** The figures of links by their ids; null if they cannot be told. */
type Figures = ReadonlyMap<string, ReportFigures['metrics']> | null

const AT = '/links'

/** The days of the figures, today included. */
const DAYS = 30

const linkPath = ({ account }: MemberVisit, { link_id }: Pick<Link, 'link_id'>) =>
  `${portalPath(account.id, AT)}?${new URLSearchParams({ link: link_id })}`

/** Reads the figures of links. A report of a very large account is refused: then the page has none. */
async function readFigures(visit: MemberVisit): Promise<Figures> {
  const query = {
    ...{ from: dayBefore(visit.today, DAYS - 1), to: dayBefore(visit.today, 0), group_by: 'link' },
    metrics: linkMetrics(visit)
      .map(([name]) => name)
      .join(),
  }
  try {
    const { data } = await visit.call(getReport, query)
    return new Map(data.map(({ groups, metrics }) => [String(groups.link ?? ''), metrics]))
  } catch (error) {
    if (error instanceof ApiError && error.code === 'validation_failed') return null
    throw error
  }
}

const figureText = (
  { speech }: MemberVisit,
  figures: Figures,
  { link_id }: Link,
  name: string,
): string => (figures === null ? '–' : speech.figure(String(figures.get(link_id)?.[name] ?? 0)))

function State({ visit, link }: { visit: MemberVisit; link: Link }) {
  const { words, account } = visit
  if (!link.disabled) return <small class="badge good">{words.link_on}</small>
  const text = link.disabled_by === 'team' ? words.link_off_by_firm : words.link_off
  return <small class="badge warn">{fill(text, { account: account.name })}</small>
}

/** Renders the fields that a new link and a changed one have. */
const LinkFields = (props: {
  visit: MemberVisit
  pages: readonly string[]
  link: Pick<Link, 'landing_page' | 'name' | 'pass_query'>
}) => {
  const { visit, pages, link } = props
  const { words } = visit
  return (
    <>
      <div class="field">
        <label for="landing_page">{words.landing_page}</label>
        <input
          id="landing_page"
          name="landing_page"
          type="url"
          required
          list="landing_pages"
          value={link.landing_page}
          aria-describedby="landing_page-about"
          autocomplete="off"
        />
        <datalist id="landing_pages">
          {pages.map((page) => (
            <option value={page} />
          ))}
        </datalist>
        <p class="note" id="landing_page-about">
          {words.landing_page_hint} {pages.map((page) => `${page} `)}
        </p>
      </div>
      <div class="field">
        <label for="name">{words.link_name}</label>
        <input
          id="name"
          name="name"
          maxlength={100}
          value={link.name ?? ''}
          aria-describedby="name-about"
          autocomplete="off"
        />
        <p class="note" id="name-about">
          {words.link_name_hint}
        </p>
      </div>
      <label class="check">
        <input type="checkbox" name="pass_query" value="yes" checked={link.pass_query} />{' '}
        {words.pass_query}
      </label>
    </>
  )
}

/** Renders a form of the page. `change` names what it does. */
const LinkForm = (props: {
  visit: MemberVisit
  change: string
  submit: string
  link?: Link
  isPlain?: boolean
  children?: Child
}) => {
  const { visit, change, submit, link, isPlain, children } = props
  const values = { change, ...(link && { link: link.link_id }) }
  return (
    <MemberForm visit={visit} at={AT} values={values} submit={submit} isPlain={isPlain ?? false}>
      {children}
    </MemberForm>
  )
}

/** Returns what a form shows: what was typed if it was refused, or what is stored. */
const shownFields = (refused: Refused | null, stored: Link | null, page = '') => ({
  landing_page: refused?.values('landing_page') ?? stored?.landing_page ?? page,
  name: refused?.values('name') ?? stored?.name ?? '',
  pass_query: refused ? refused.values('pass_query') === 'yes' : (stored?.pass_query ?? false),
})

const NewLink = (props: {
  visit: MemberVisit
  pages: readonly string[]
  refused: Refused | null
}) => {
  const { visit, pages, refused } = props
  const { words, account } = visit
  return (
    <section id="make">
      <h2>{words.make_link}</h2>
      {refused && <Problem text={refused.problem} />}
      {pages.length === 0 ? (
        <p class="note">{fill(words.no_landing_pages, { account: account.name })}</p>
      ) : (
        <LinkForm visit={visit} change="make" submit={words.make_link}>
          <LinkFields visit={visit} pages={pages} link={shownFields(refused, null, pages[0])} />
        </LinkForm>
      )}
    </section>
  )
}

const LinkTable = (props: { visit: MemberVisit; list: Links; figures: Figures }) => {
  const { visit, list, figures } = props
  const { words } = visit
  return (
    <>
      <Table
        caption={fill(words.links_caption, { days: String(DAYS) })}
        rows={list.data}
        columns={{
          [words.link]: (link) => (
            <>
              <a href={linkPath(visit, link)}>
                <Data text={link.name ?? link.link_id} />
              </a>
              {link.disabled && (
                <>
                  {' '}
                  <State visit={visit} link={link} />
                </>
              )}
              <small class="place">
                <Data text={link.landing_page} />
              </small>
            </>
          ),
          [words.link_address]: (link) => <Copied visit={visit} text={link.url} />,
          ...Object.fromEntries(
            linkMetrics(visit).map(([name, title]): [string, Cell<Link>] => [
              title,
              { number: (link) => figureText(visit, figures, link, name) },
            ]),
          ),
        }}
        empty={<p class="note">{words.no_links}</p>}
      />
      <NextPage visit={visit} at={AT} cursor={list.meta.next_cursor} />
    </>
  )
}

/** Renders how an affiliate tells its campaigns apart, with an example of the link. */
const Campaigns = ({ visit, link }: { visit: MemberVisit; link: Link }) => {
  const { words } = visit
  return (
    <section>
      <h2>{words.campaigns}</h2>
      <p>{words.campaigns_lead}</p>
      <p>
        <Copied visit={visit} text={`${link.url}?sub1=newsletter&sub2=button`} />
      </p>
      <p class="note">{words.campaign_figures}</p>
      <CampaignLinks visit={visit} />
    </section>
  )
}

const OneLink = (props: {
  visit: MemberVisit
  link: Link
  figures: Figures
  pages: readonly string[]
  refused: Refused | null
}) => {
  const { visit, link, figures, pages, refused } = props
  const { words, account } = visit
  const isLocked = link.disabled_by === 'team'
  const file = `${portalPath(account.id, `${AT}/${link.link_id}`)}/qr-code.svg`
  return (
    <>
      <p>
        <State visit={visit} link={link} />
      </p>
      <p>
        <Copied visit={visit} text={link.url} />
      </p>
      <div class="figure-cards">
        {linkMetrics(visit).map(([name, title]) => (
          <FigureCard title={title}>
            <p class="big">{figureText(visit, figures, link, name)}</p>
            <p class="note">{words.last_days}</p>
          </FigureCard>
        ))}
      </div>
      <h2>{words.qr_code}</h2>
      <QrCode text={link.url} label={words.qr_code_of_link} />
      <p>
        <a href={file} download={`${link.link_id}.svg`}>
          {words.qr_code_save}
        </a>
      </p>
      <Campaigns visit={visit} link={link} />
      <h2>{words.change_link}</h2>
      {refused && <Problem text={refused.problem} />}
      <LinkForm visit={visit} change="save" submit={words.save} link={link}>
        <LinkFields visit={visit} pages={pages} link={shownFields(refused, link)} />
      </LinkForm>
      {isLocked ? (
        <p class="note">{fill(words.link_locked, { account: account.name })}</p>
      ) : (
        <LinkForm
          visit={visit}
          change={link.disabled ? 'on' : 'off'}
          submit={link.disabled ? words.turn_on : words.turn_off}
          link={link}
          isPlain
        >
          {!link.disabled && <p class="note">{words.turn_off_hint}</p>}
        </LinkForm>
      )}
      <p>
        <a href={portalPath(account.id, AT)}>{words.all_links}</a>
      </p>
    </>
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
  const { words } = visit
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
    <MemberPage visit={visit} here="links" title={title}>
      {done && (
        <p class="notice good" role="status">
          {words[`link_done_${done}`]}
        </p>
      )}
      {'link_id' in found ? (
        <OneLink visit={visit} link={found} figures={figures} pages={pages} refused={refused} />
      ) : (
        <>
          <LinkTable visit={visit} list={found} figures={figures} />
          <h2>{words.campaign_figures}</h2>
          <CampaignLinks visit={visit} />
          <NewLink visit={visit} pages={pages} refused={refused} />
        </>
      )}
    </MemberPage>,
    refused ? 422 : 200,
  )
}

/** Responds with the QR code of a link as a file. */
export async function saveQrCode(c: Context<AppEnv>, visit: MemberVisit): Promise<Response> {
  const { url, link_id } = await readLink(visit, c.req.param('link') ?? '')
  const svg = <QrCode text={url} label={visit.words.qr_code_of_link} />
  return c.body(await textOf(svg), 200, {
    'Content-Type': 'image/svg+xml',
    'Content-Disposition': `attachment; filename="${link_id}.svg"`,
  })
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

/** Makes or changes a link. */
export async function changeLinks(c: Context<AppEnv>, visit: MemberVisit): Promise<Response> {
  const values = await readMemberForm(c, visit)
  const [change, link_id] = [values('change'), values('link')]
  const fields = {
    landing_page: values('landing_page').trim(),
    pass_query: values('pass_query') === 'yes',
  }
  const name = values('name').trim()
  const to = (link: Pick<Link, 'link_id'>, done: (typeof DONE)[number]) =>
    c.redirect(`${linkPath(visit, link)}&${new URLSearchParams({ done })}`, 303)
  try {
    if (change === 'make') {
      return to(await visit.call(createOwnLink, { ...fields, ...(name && { name }) }), 'made')
    }
    if (link_id === '') throw new ApiError('not_found')
    if (change === 'save') {
      // A page that the firm no longer allows stays until the affiliate chooses another.
      const { landing_page } = await readLink(visit, link_id)
      const { landing_page: page, pass_query } = fields
      const moved = page === landing_page ? {} : { landing_page: page }
      return to(
        await visit.call(changeOwnLink, { link_id, ...moved, pass_query, name: name || null }),
        'saved',
      )
    }
    if (change !== 'on' && change !== 'off') throw new ApiError('not_found')
    const isOn = change === 'on'
    return to(await visit.call(changeOwnLink, { link_id, disabled: !isOn }), isOn ? 'on' : 'off')
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const problem = problemOf(visit, error)
    return showLinks(c, visit, { values, problem })
  }
}
