import { getAccount } from '../../admin/accounts.ts'
import { listAttention } from '../../admin/attention.ts'
import { getChanges } from '../../admin/changes.ts'
import { listArrivals } from '../../admin/deliveries.ts'
import { getFeed } from '../../admin/feeds.ts'
import { listPayouts } from '../../admin/payouts.ts'
import { moneyText } from '../../commission/books/money.ts'
import { ZERO } from '../../commission/engine/decimal.ts'
import { listPeriods } from '../../commission/statements/operations.ts'
import { DAY_MS } from '../../durations.ts'
import type { AnswerOf } from '../../http/operation.ts'
import { accountPath, dayBefore, type Page, withQuery } from '../page.ts'
import { AttentionList } from '../parts/attention.tsx'
import { Chart, type ChartRow } from '../parts/chart.tsx'
import { Amount, count, dayWords, EmptyState, isolated, periodWords, Time } from '../parts/data.tsx'
import { DeferredPart } from '../parts/deferred.tsx'
import { deliveriesPath, refusedPath } from '../parts/deliveries.tsx'
import { Feeds } from '../parts/feeds.tsx'
import { VERTICALS } from '../parts/field-words.ts'
import { AccountLink } from '../parts/fields.tsx'
import { FigureCard, Moneys, WholeText } from '../parts/figures.tsx'
import { AffiliateLink } from '../parts/names.tsx'
import { moneyOf, openPeriods, sumByCurrency } from '../parts/owed.ts'
import { canPay, sumsText } from '../parts/payout-forms.tsx'
import { SinceYesterday } from '../parts/since-yesterday.tsx'
import { Periods } from '../parts/statement-lists.tsx'
import { renderThisMonth } from '../parts/this-month.tsx'

/** Returns a row for each day with the records that were accepted and those that were refused. */
function chartRows(arrivals: AnswerOf<typeof listArrivals>['data']): ChartRow[] {
  const byDay = Map.groupBy(arrivals, ({ day }) => day)
  return [...byDay].map(([day, rows]): ChartRow => {
    const refused = rows.reduce((sum, row) => sum + row.refused, 0)
    const received = rows.reduce((sum, row) => sum + row.received, 0)
    return [day, received - refused, refused]
  })
}

/** The payouts of which the overview says what is held. */
const MOST_PAYOUTS = 200

/** Returns the currency in which a report is converted: the one that most statements have. */
function mainCurrency(sums: readonly { currency: string; statements: number }[]): string {
  const counts = new Map<string, number>()
  for (const { currency, statements } of sums)
    counts.set(currency, (counts.get(currency) ?? 0) + statements)
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? 'USD'
}

/** The overview of an account: what is owed, what needs attention, and how its data arrives. */
export const overviewPage: Page = {
  path: '/accounts/:account',
  section: 'Overview',
  async render(visit) {
    const { api, account } = visit
    const [settings, attention, feeds, arrivals, sums, payouts, since] = await Promise.all([
      api.call(getAccount, { account }),
      api.call(listAttention, { account }),
      api.call(getFeed, { account }),
      api.call(listArrivals, { account }),
      api.call(listPeriods, { account }),
      api.call(listPayouts, {
        account,
        payable_on: dayBefore(visit.today, 0),
        per_page: MOST_PAYOUTS,
      }),
      api.call(getChanges, { account }),
    ])
    const days = chartRows(arrivals.data)
    // The deferred part is the last one of the document, because it keeps what follows it waiting. The style
    // sheet shows it beside the first figures, in a place of a fixed size.
    const held = payouts.data.flatMap(({ amount_held: amount = '0', currency }) =>
      /[1-9]/.test(amount) ? [{ amount, currency }] : [],
    )
    const affiliates =
      sums.due.reduce((sum, one) => sum + one.affiliates, 0) -
      payouts.data.filter(
        ({ amount, amount_held = '0' }) => /[1-9]/.test(amount_held) && !/[1-9]/.test(amount),
      ).length
    const byCurrency = Map.groupBy(sums.leading, ({ currency }) => currency)
    const body = (
      <div class="overview">
        <p class="lead">
          {VERTICALS[settings.vertical] ?? settings.vertical} <small>{account}</small>
          {settings.mode === 'test' && <> · Test mode</>}
        </p>
        <div class="figure-cards now">
          {openPeriods(sums, visit.today).map((open) => {
            const currencies = [...new Set([...open.owed.keys(), ...open.before.keys()])].sort()
            return (
              <FigureCard
                title={
                  <AccountLink at={['statements']} query={{ period: open.period.id }}>
                    Owed for {periodWords(open.period.id)}
                  </AccountLink>
                }
              >
                {currencies.length === 0 && <Moneys amounts={[]} none="Nothing yet" />}
                {currencies.map((currency) => (
                  <>
                    <p class="big">
                      <Amount
                        value={moneyText(open.owed.get(currency) ?? ZERO, currency)}
                        currency={currency}
                      />
                    </p>
                    <p class="change">
                      <WholeText
                        amount={{
                          amount: moneyText(open.before.get(currency) ?? ZERO, currency),
                          currency,
                        }}
                        of={periodWords(open.previous.id)}
                      />
                    </p>
                  </>
                ))}
                <p class="note">
                  So far, {count(Math.floor(visit.today / DAY_MS) - open.period.first + 1)} of{' '}
                  {count(open.period.last - open.period.first + 1)} days
                </p>
              </FigureCard>
            )
          })}
          <FigureCard title="Payable now">
            <Moneys amounts={moneyOf(sumByCurrency(sums.due))} none="Nothing" />
            {held.length > 0 && (
              <p class="change">
                The fraud review holds {sumsText(held)} of it
                {payouts.data.length === MOST_PAYOUTS &&
                  `, of the first ${MOST_PAYOUTS} payouts alone`}
                .
              </p>
            )}
            {affiliates > 0 && canPay(visit) && (
              <p>
                <a
                  class="button"
                  href={withQuery(accountPath(visit.account, 'payouts'), {
                    payable_on: dayBefore(visit.today, 0),
                  })}
                >
                  Pay {count(affiliates)} {affiliates === 1 ? 'affiliate' : 'affiliates'}
                </a>
              </p>
            )}
          </FigureCard>
        </div>
        <div class="rest">
          <AttentionList isDisabled={settings.disabled} items={attention.data} />
          <SinceYesterday changes={since} />
          {byCurrency.size !== 0 && (
            <section>
              <h2>Top affiliates</h2>
              <div class="leaders">
                {[...byCurrency].map(([currency, rows]) => (
                  <ol aria-label={`The highest commission in ${currency}`}>
                    {rows.map(({ id, affiliate_id, period, total }) => (
                      <li>
                        <span>
                          <AffiliateLink id={affiliate_id} /> <small>{periodWords(period)}</small>
                        </span>
                        <AccountLink at={['statements', id]}>
                          <Amount value={total} currency={currency} />
                        </AccountLink>
                      </li>
                    ))}
                  </ol>
                ))}
              </div>
            </section>
          )}
          <section id="feeds">
            <h2>Feeds</h2>
            <Feeds feeds={feeds.data} />
            <p class="quick">
              {['today', 'yesterday'].map((name, ago) => {
                const [, , refused] = days.find(([day]) => day === dayBefore(visit.now, ago)) ?? []
                return (
                  <a href={refusedPath(visit, [ago, ago])}>
                    Refused {name} (UTC): {count(refused ?? 0)}
                  </a>
                )
              })}
            </p>
          </section>
          <section>
            <h2>Statements by period</h2>
            <p class="note">
              The last run ended: <Time at={sums.last_run_at} />.
            </p>
            <Periods sums={sums} />
          </section>
          <section>
            <h2>Records a day</h2>
            {days.length === 0 ? (
              <EmptyState title="Nothing has been delivered in the last 30 days.">
                <p>
                  The <a href="/docs/start">guide</a> shows how a first record is sent.
                </p>
              </EmptyState>
            ) : (
              <>
                {days.length === 1 ? (
                  days.map(([day, accepted, refused]) => (
                    <p>
                      All came on {dayWords(day)}: {count(accepted ?? 0)} accepted,{' '}
                      {count(refused ?? 0)} refused.
                    </p>
                  ))
                ) : (
                  <Chart
                    caption="Records by the day they came (UTC), in the last 30 days. A delivery that was refused as a whole counts with all its records."
                    label="Day"
                    series={['Accepted', 'Refused']}
                    rows={days.map(([day, ...values]): ChartRow => [dayWords(day), ...values])}
                  />
                )}
                <p>
                  <a href={deliveriesPath(account)}>The deliveries</a> they came in, and{' '}
                  <a href={deliveriesPath(account, { status: 'refused' })}>
                    why records were refused
                  </a>
                </p>
              </>
            )}
          </section>
        </div>
        <div class="later">
          <DeferredPart />
        </div>
      </div>
    )
    return {
      title: isolated(settings.name),
      body,
      computeDeferred: () => renderThisMonth(visit, settings.vertical, mainCurrency(sums.data)),
    }
  },
}
