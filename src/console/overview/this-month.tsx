import { dayText, nextPeriod, periodOf } from '../../commission/engine/calendar.ts'
import type { Visit } from '../../pages/page.ts'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { DAY_MS } from '../../platform/durations.ts'
import { getReport } from '../../reports/operations.ts'
import { metricsIn } from '../../reports/report.ts'
import { nullIfTooLarge, TotalCards } from '../reports/report.tsx'

/** Computes and renders the figures of this month, compared with the same days of the month before. */
export async function renderThisMonth(visit: Visit, vertical: string, currency: string) {
  const { api, account } = visit
  const today = Math.floor(visit.today / DAY_MS)
  const month = periodOf(today, 'month')
  const last = nextPeriod(month, -1)
  const metrics = metricsIn(vertical, 'overview').map(({ name }) => name)
  const read = (first: number, until: number) =>
    api.call(getReport, {
      ...{ account, currency, metrics: metrics.join() },
      ...{ from: dayText(first), to: dayText(until) },
    })
  const reports = await Promise.all([
    read(month.first, today),
    read(last.first, Math.min(last.first + today - month.first, last.last)),
  ]).catch(nullIfTooLarge)
  if (!reports) {
    return (
      <p class="note">
        This month has too many records to add them up here.{' '}
        <AccountLink at={['reports']}>Ask for a report</AccountLink>
      </p>
    )
  }
  const [report, before] = reports
  return (
    <section>
      <h2>This month</h2>
      <TotalCards report={report} before={before} beforeWords="the same days of the month before" />
    </section>
  )
}
