import type { ReadCall } from '../../platform/http/operation.ts'
import type { Period } from '../../platform/money/calendar.ts'
import { openPeriod } from '../run/on-request.ts'

/** Prepares the account of a period, once per request or page: several calls use it. */
export const periodIn = (
  { env, grant, session, once }: Pick<ReadCall, 'env' | 'grant' | 'session' | 'once'>,
  period: Period,
) =>
  once(JSON.stringify(['period', grant.account, period.id]), () =>
    openPeriod(env, grant, session, period),
  )
