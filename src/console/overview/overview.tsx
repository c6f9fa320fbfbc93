import { listAttention } from '../../accounts/attention.ts'
import { listPeriods } from '../../commission/operations/statements.ts'
import { counted } from '../../commission/words/english.ts'
import { getFeed } from '../../ingest/operations/feeds.ts'
import { accountPath, dayBefore, type Page } from '../../pages/base/page.ts'
import { Amount, count, isolated, periodWords } from '../../pages/parts/data.tsx'
import { choiceWords } from '../../pages/parts/field-words.ts'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { FigureCard, Moneys } from '../../pages/parts/figures.tsx'
import { openPeriods } from '../../pages/parts/owed.ts'
import { listPayable } from '../../payouts/operations/payable.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { notFound } from '../../platform/http/read-fields.ts'
import { dayText, periodOf } from '../../platform/money/calendar.ts'
import { ZERO } from '../../platform/money/decimal.ts'
import { moneyText } from '../../platform/money/money.ts'
import { moneyOf, sumByCurrency } from '../../platform/money/sums.ts'
import { canManage } from '../books/sums.ts'
import { Waiting } from '../payouts/payable-words.tsx'
import { Feeds } from '../records/feeds.tsx'
import { AttentionList } from './attention.tsx'

/** The overview of an account: what is owed, what needs attention, and how its data arrives. */
export const overviewPage: Page = {
  path: '/accounts/:account',
  shows: 'affiliate',
  section: 'Overview',
  async render(visit) {
    const { api, account } = visit
    const [settings, attention, feeds, sums, { data: payable }] = await Promise.all([
      api.account(account),
      api.call(listAttention, { account }),
      api.may(getFeed) ? api.call(getFeed, { account }) : null,
      api.call(listPeriods, { account }),
      api.call(listPayable, { account }),
    ])
    if (!settings) throw notFound('account', account)
    const free = payable.filter(({ ticked }) => ticked)
    const month = periodOf(Math.floor(visit.today / DAY_MS), 'month')
    const body = (
      <>
        <p class="lead">
          {choiceWords(settings.vertical)} <small>{account}</small>
          {settings.mode === 'test' && <> · Test mode</>} ·{' '}
          <AccountLink
            at={['reports']}
            query={{ from: dayText(month.first), to: dayBefore(visit.today, 0) }}
          >
            Figures of this month
          </AccountLink>
          {canManage(visit) && (
            <>
              {' '}
              · <a href={`${accountPath(account, 'affiliates')}#change-add`}>Add an affiliate</a>
            </>
          )}
        </p>
        <div class="figure-cards">
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
                    {/* Not a comparison: days of a month cannot be set against days of another, because a statement has no days. */}
                    <p class="change">
                      {periodWords(open.previous.id)} as a whole:{' '}
                      <Amount
                        value={moneyText(open.before.get(currency) ?? ZERO, currency)}
                        currency={currency}
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
            <Moneys amounts={moneyOf(sumByCurrency(free))} none="Nothing" />
            <Waiting rows={payable} />
            {payable.length > 0 && canManage(visit) && (
              <p>
                <AccountLink at={['payouts']}>
                  {free.length > 0 ? `Pay ${counted(free.length, 'payee')}` : 'Show what waits'}
                </AccountLink>
              </p>
            )}
          </FigureCard>
        </div>
        <AttentionList isDisabled={settings.disabled === 1} items={attention.data} />
        {feeds && (
          <section id="feeds">
            <h2>Feeds</h2>
            <Feeds feeds={feeds.data} />
          </section>
        )}
      </>
    )
    return { title: isolated(settings.name), body }
  },
}
