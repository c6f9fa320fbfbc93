import type { Context } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { Data } from '../console/parts/data.tsx'
import { respond } from '../console/respond.ts'
import { dayText, MemberPage } from './member-page.tsx'
import type { MemberVisit } from './visit.ts'
import { fill } from './words.ts'

/** What `GET /affiliate/v1/me` says of plans. */
interface Me {
  readonly plans: readonly {
    readonly name: string
    readonly from: string
    readonly rules: readonly { readonly pays: string; readonly limits: readonly string[] }[]
    readonly in_words: readonly string[]
  }[]
}

/** Renders the plans of an affiliate in sentences. */
const Plans = ({ visit, plans }: { visit: MemberVisit; plans: Me['plans'] }) => {
  const { words, account, language } = visit
  if (plans.length === 0) return <p>{fill(words.no_plan, { account: account.name })}</p>
  return (
    <>
      {plans.map(({ name, from, rules, in_words }) => (
        <section>
          <h3>
            <Data text={fill(words.plan_from, { plan: name, day: dayText(from, language) })} />
          </h3>
          {[...rules.map(({ pays, limits }) => [pays, ...limits]), in_words].map((sentences) => (
            <ul class="rule-words">
              {sentences.map((sentence) => (
                <li>
                  <Data text={sentence} />
                </li>
              ))}
            </ul>
          ))}
        </section>
      ))}
    </>
  )
}

/** Responds with the overview of the affiliate. */
export async function showOverview(c: Context<AppEnv>, visit: MemberVisit): Promise<Response> {
  const { words } = visit
  const me = await visit.get<Me>('/me')
  return respond(
    c,
    <MemberPage visit={visit} here="overview" title={words.overview}>
      <h2>{words.plans}</h2>
      <Plans visit={visit} plans={me.plans} />
    </MemberPage>,
  )
}
