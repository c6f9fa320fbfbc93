import { listed } from '../../commission/words/english.ts'
import type { Visit } from '../../pages/base/page.ts'
import { amountText } from '../../pages/parts/data.tsx'
import { isAtLeast } from '../../platform/auth/roles.ts'
import { moneyText } from '../../platform/money/money.ts'
import { type Money, sumByCurrency } from '../../platform/money/sums.ts'

// What pages about money have in common.

/** Returns the sums of amounts by currency, such as `901.20 EUR and 40.00 USD`; `0` without rows. */
export function sumsText(rows: readonly Money[]): string {
  const sums = [...sumByCurrency(rows)]
  const texts = sums.map(([currency, sum]) => amountText(moneyText(sum, currency), currency))
  return texts.length === 0 ? '0' : listed(texts)
}

/** Returns whether the member may change anything but what is paid. */
export const canManage = ({ member }: Visit): boolean => isAtLeast(member.role, 'manager')

/** Returns whether the member may decide what is paid. */
export const canPay = ({ member }: Visit): boolean => isAtLeast(member.role, 'approver')
