import type { Context } from 'hono'
import { listSubAffiliates } from '../affiliates/lists.ts'
import { getAffiliateSelf } from '../affiliates/me.ts'
import { dayBefore } from '../pages/base/page.ts'
import { respond } from '../pages/base/respond.ts'
import { Data } from '../pages/parts/data.tsx'
import { Table } from '../pages/parts/table.tsx'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { fill } from '../platform/languages.ts'
import { Copied } from './form.tsx'
import { MemberPage } from './member-page.tsx'
import type { MemberVisit } from './visit.ts'

/** The days of the counts. */
const DAYS = 30

/** Responds with the affiliates below, with their counts of the last days, as far as the account shows them. */
export async function showSubAffiliates(c: Context<AppEnv>, visit: MemberVisit): Promise<Response> {
  const { words, speech, account, today } = visit
  const range = { from: dayBefore(today, DAYS - 1), to: dayBefore(today, 0) }
  const [{ affiliate_view, share_url }, { data }] = await Promise.all([
    visit.call(getAffiliateSelf, {}),
    visit.call(listSubAffiliates, range),
  ])
  const countText = (count: number | null) => (count === null ? '–' : speech.figure(String(count)))
  const isHidden = affiliate_view.sub_affiliates === 'none'
  const none = isHidden ? fill(words.below_hidden, { account: account.name }) : words.no_below
  return respond(
    c,
    <MemberPage visit={visit} here="sub_affiliates" title={words.sub_affiliates}>
      {data.length > 0 && <p class="lead">{words.below_lead}</p>}
      <Table
        caption={words.last_days}
        rows={data}
        columns={{
          [words.affiliate]: (one) => (
            <span class={`level level-${Math.min(one.level, 5)}`}>
              <Data text={one.affiliate_id} />
            </span>
          ),
          [words.level]: { number: ({ level }) => level },
          [words.signups]: { number: ({ signups }) => countText(signups) },
          [words.active_customers]: {
            number: (one) => countText(one.active_customers),
          },
        }}
        empty={<p class="note">{none}</p>}
      />
      {share_url && (
        <section>
          <h2>{fill(words.share, { account: account.name })}</h2>
          <p>{words.share_lead}</p>
          <Copied text={share_url} />
        </section>
      )}
    </MemberPage>,
  )
}
