import type { Context } from 'hono'
import { listAffiliateCustomers } from '../affiliates/customers.ts'
import type { PlanTerms } from '../commission/plans/types.ts'
import { stateWords } from '../commission/why/sentences.ts'
import { respond } from '../pages/base/respond.ts'
import { Data } from '../pages/parts/data.tsx'
import { Table } from '../pages/parts/table.tsx'
import type { AppEnv } from '../platform/auth/authorize.ts'

import { portalPath } from './layout.tsx'
import { MemberPage, NextPage, Sentence, titleText } from './member-page.tsx'
import { readPlans } from './plans.ts'
import { CustomerName } from './questions.tsx'
import { UNEARNED } from './unearned.tsx'
import type { MemberVisit } from './visit.ts'

const AT = '/customers'

/** Returns what of a rule the sentences about a customer need. */
function ruleOf(terms: PlanTerms | undefined, rule: string) {
  const found = terms?.rules.find(({ id }) => id === rule)
  const trigger = found?.kind === 'once' ? found.trigger : undefined
  return { currency: terms?.currency ?? '', period: terms?.period ?? ('month' as const), trigger }
}

const STATUSES = ['waiting', 'qualified', 'failed', 'refused'] as const

/** Responds with the customers of the affiliate, and what became of each under the rules that pay once. */
export async function showCustomers(c: Context<AppEnv>, visit: MemberVisit): Promise<Response> {
  const { words, speech } = visit
  const { cursor, status: sent } = c.req.query()
  const status = STATUSES.find((one) => one === sent)
  const { data, meta } = await visit.call(listAffiliateCustomers, { cursor, status })
  const plans = await readPlans(
    visit,
    data.flatMap(({ states }) => states.map(({ plan }) => plan)),
  )
  const link = (value: (typeof STATUSES)[number] | undefined, text: string) => (
    <a
      href={portalPath(visit.account.id, value === undefined ? AT : `${AT}?status=${value}`)}
      aria-current={status === value ? 'true' : undefined}
    >
      {text}
    </a>
  )
  return respond(
    c,
    <MemberPage visit={visit} here="customers" title={words.customers}>
      <p class="quick">
        {link(undefined, visit.words.all_customers)}
        {STATUSES.map((one) => link(one, visit.words[`state_${one}`]))}
      </p>
      <p>
        <a href={portalPath(visit.account.id, UNEARNED)}>{words.unearned_link}</a>
      </p>
      <Table
        caption={words.customers}
        rows={data}
        columns={{
          [words.customer]: ({ customer }) => <CustomerName name={customer} />,
          [words.signup_day]: ({ signup_day }) => speech.day(signup_day),
          [words.country]:
            data.some(({ country_code }) => country_code) &&
            (({ country_code }) =>
              country_code ? <Data text={speech.country(country_code)} /> : '–'),
          [words.state]: ({ states }) =>
            states.length === 0 ? (
              '–'
            ) : (
              <ul>
                {states.map((state) => {
                  const terms = plans.termsOf(state.plan, state.version)
                  const paid = state.amount
                    ? visit.speech.money(state.amount, state.currency ?? terms?.currency ?? '')
                    : null
                  return (
                    <li>
                      <strong>{visit.words[`state_${state.status}`]}</strong>
                      {state.qualified_on !== null && `, ${visit.speech.day(state.qualified_on)}`}
                      {paid && `, ${paid}`}{' '}
                      <small>
                        <Data text={titleText(state.rule)} />
                      </small>
                      {stateWords(state, ruleOf(terms, state.rule), visit.speech).map(
                        (sentence) => (
                          <p>
                            <Sentence text={sentence} />
                          </p>
                        ),
                      )}
                    </li>
                  )
                })}
              </ul>
            ),
        }}
        empty={
          <p class="note">{status === undefined ? words.no_customers : words.none_in_state}</p>
        }
      />
      <NextPage at={AT} cursor={meta.next_cursor} query={status === undefined ? {} : { status }} />
    </MemberPage>,
  )
}
