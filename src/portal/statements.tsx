import type { Context } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { Data, type List, Table } from '../console/parts/data.tsx'
import { respond } from '../console/respond.ts'
import { portalPath } from './layout.tsx'
import { MemberPage, moneyIn, NextPage, periodText } from './member-page.tsx'
import { AskLink } from './questions.tsx'
import type { MemberVisit } from './visit.ts'

interface Statement {
  readonly id: string
  readonly period: string
  readonly plan: string
  readonly currency: string
  readonly total: string
  readonly status: 'draft' | 'approved' | 'paid'
}

interface Line {
  readonly id: string
  readonly rule: string
  readonly amount: string
}

const AT = '/statements'

/** Responds with the statements of the affiliate. */
export async function showStatements(c: Context<AppEnv>, visit: MemberVisit): Promise<Response> {
  const { words, language, account } = visit
  const { data, meta } = await visit.get<List<Statement>>(AT, { cursor: c.req.query('cursor') })
  return respond(
    c,
    <MemberPage visit={visit} here="statements" title={words.statements}>
      <Table
        caption={words.statements}
        rows={data}
        columns={[
          {
            title: words.period,
            cell: ({ id, period }: Statement) => (
              <a href={portalPath(account.id, `${AT}/${encodeURIComponent(id)}`)}>
                {periodText(period, language)}
              </a>
            ),
          },
          { title: words.state, cell: ({ status }: Statement) => words[status] },
          {
            title: words.total,
            isNumeric: true,
            cell: ({ total, currency }: Statement) => moneyIn(total, currency, language),
          },
        ]}
        empty={<p class="note">{words.no_statements}</p>}
      />
      <NextPage visit={visit} at={AT} cursor={meta.next_cursor} />
    </MemberPage>,
  )
}

/** Responds with a statement, and with the sentences of the line that the address names. */
export async function showStatement(c: Context<AppEnv>, visit: MemberVisit): Promise<Response> {
  const { words, language, account } = visit
  const path = `${AT}/${encodeURIComponent(c.req.param('statement') ?? '')}`
  const found = await visit.get<Statement & { lines: readonly Line[] }>(path)
  const chosen = found.lines.find(({ id }) => id === c.req.query('line'))
  const explanation =
    chosen &&
    (await visit.text(`/lines/${encodeURIComponent(chosen.id)}/explain`, { period: found.period }))
  const about = { statement: found.id, period: found.period }
  return respond(
    c,
    <MemberPage
      visit={visit}
      here="statements"
      title={`${periodText(found.period, language)}: ${moneyIn(found.total, found.currency, language)}`}
    >
      <p class="lead">
        {words[found.status]} <AskLink visit={visit} about={about} />
      </p>
      <h2>{words.lines}</h2>
      <ul class="lines">
        {found.lines.map(({ id, rule, amount }) => (
          <li id={id}>
            <a
              href={`${portalPath(account.id, path)}?${new URLSearchParams({ line: id })}#${id}`}
              aria-label={`${words.why}: ${rule}`}
            >
              <Data text={rule} />: {moneyIn(amount, found.currency, language)}
            </a>
            {chosen?.id === id && (
              <section aria-label={words.why}>
                <pre class="why">{explanation}</pre>
                <AskLink visit={visit} about={{ ...about, line: id }} />
              </section>
            )}
          </li>
        ))}
      </ul>
    </MemberPage>,
  )
}
