import type { Context } from 'hono'
import { SUBS } from '../attribution/db/clicks.ts'
import { dayBefore } from '../pages/page.ts'
import { Data } from '../pages/parts/data.tsx'
import { type Cell, Table } from '../pages/parts/table.tsx'
import { respond } from '../pages/respond.ts'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { ApiError } from '../platform/errors.ts'
import type { AnswerOf } from '../platform/http/operation.ts'
import { getReport } from '../reports/operations.ts'
import { metricsIn } from '../reports/report.ts'
import { Problem, portalPath } from './layout.tsx'
import { MemberPage } from './member-page.tsx'
import { type MemberVisit, useMemberVisit } from './visit.ts'
import { fill } from './words.ts'

/** A value of a parameter of the addresses, with its figures. */
type Row = AnswerOf<typeof getReport>['data'][number]

/** The page of the figures, below that of the links. */
const AT = '/links/campaigns'

/** The days of the figures, today included. */
const DAYS = 30

/** What the metrics of links are called. */
const METRIC_WORDS = new Map<string, 'clicks' | 'signups' | 'first_deposits'>([
  ['clicks', 'clicks'],
  ['signups', 'signups'],
  ['first_deposit_count', 'first_deposits'],
])

/** The metrics of links, with the words of each. */
export const linkMetrics = ({
  words,
  account,
}: MemberVisit): readonly (readonly [string, string])[] =>
  metricsIn(account.vertical, 'portal').flatMap(({ name }) => {
    const word = METRIC_WORDS.get(name)
    return word ? [[name, words[word]] as const] : []
  })

/** Renders the links to the figures by each parameter. */
export const CampaignLinks = ({ here }: { here?: string }, visit = useMemberVisit()) => (
  <p class="quick">
    {SUBS.map((sub) => (
      <a
        href={portalPath(visit.account.id, `${AT}?by=${sub}`)}
        aria-current={sub === here ? 'true' : undefined}
      >
        {sub}
      </a>
    ))}
  </p>
)

/** Reads the figures by a parameter, those of most clicks first; null if there is too much to count. */
async function readRows(visit: MemberVisit, by: string): Promise<readonly Row[] | null> {
  const query = {
    ...{ from: dayBefore(visit.today, DAYS - 1), to: dayBefore(visit.today, 0), group_by: by },
    metrics: linkMetrics(visit)
      .map(([name]) => name)
      .join(),
  }
  try {
    const { data } = await visit.call(getReport, query)
    const clicksOf = ({ metrics }: Row) => Number(metrics.clicks ?? 0)
    return data
      .filter(({ metrics }) => Object.values(metrics).some((value) => value !== 0))
      .sort((a, b) => clicksOf(b) - clicksOf(a))
  } catch (error) {
    if (error instanceof ApiError && error.code === 'validation_failed') return null
    throw error
  }
}

/** Responds with what came of the values of a parameter that the affiliate adds to the addresses of links. */
export async function showCampaigns(c: Context<AppEnv>, visit: MemberVisit): Promise<Response> {
  const { words, speech, account } = visit
  const by = SUBS.find((one) => one === c.req.query('by')) ?? SUBS[0]
  const rows = await readRows(visit, by)
  const named = { sub: by }
  return respond(
    c,
    <MemberPage visit={visit} here="links" title={words.campaign_figures}>
      <CampaignLinks here={by} />
      <p class="lead">{fill(words.campaign_figures_lead, named)}</p>
      {rows === null ? (
        <Problem text={words.campaign_refused} />
      ) : (
        <Table
          caption={words.campaign_figures}
          rows={rows}
          columns={{
            [by]: ({ groups }) => (
              <Data text={String(groups[by] ?? fill(words.campaign_without, named))} />
            ),
            ...Object.fromEntries(
              linkMetrics(visit).map(([name, title]): [string, Cell<Row>] => [
                title,
                { number: ({ metrics }) => speech.figure(String(metrics[name] ?? 0)) },
              ]),
            ),
          }}
          empty={<p class="note">{fill(words.campaign_none, named)}</p>}
        />
      )}
      <p>
        <a href={portalPath(account.id, '/links')}>{words.all_links}</a>
      </p>
    </MemberPage>,
  )
}
