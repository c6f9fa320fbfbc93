import type { Child } from 'hono/jsx'
import { listed } from '../../commission/words/english.ts'
import { useVisit, type Visit } from '../../pages/base/page.ts'
import type { Money } from '../../pages/parts/data.tsx'
import { amountText, visible } from '../../pages/parts/data.tsx'
import { sumByCurrency } from '../../pages/parts/owed.ts'
import { type Columns, Table } from '../../pages/parts/table.tsx'
import { type Ticked as Ticks, tickName, tickValue } from '../../pages/payment-rows.ts'
import { isAtLeast } from '../../platform/auth/roles.ts'
import { moneyText } from '../../platform/money/money.ts'

// The parts of the forms that record payments.

/** A row with a tick box. */
interface Ticked extends Ticks {
  /** Whether it can be ticked. */
  readonly canTick: boolean
}

/** Returns the sums of amounts by currency, such as `901.20 EUR and 40.00 USD`; `0` without rows. */
export function sumsText(rows: readonly Money[]): string {
  const sums = [...sumByCurrency(rows)]
  const texts = sums.map(([currency, sum]) => amountText(moneyText(sum, currency), currency))
  return texts.length === 0 ? '0' : listed(texts)
}

interface TickTableProps<Row extends Ticked> {
  readonly caption: string
  readonly rows: readonly Row[]
  /** The columns after the tick box; the first names the row. */
  readonly columns: Columns<Row>
  readonly isTicked: (row: Row) => boolean
  /** What ticking does, such as `Pay`. */
  readonly verb: string
}

/** Renders a table with a tick box in each row. A script adds one in the header that ticks all. */
export const TickTable = <Row extends Ticked>(props: TickTableProps<Row>) => {
  const { isTicked, verb, ...table } = props
  return (
    <Table
      {...table}
      tick={(row, position) =>
        row.canTick && (
          <input
            type="checkbox"
            name={tickName(position)}
            value={tickValue(row)}
            checked={isTicked(row)}
            data-amount={row.amount}
            data-currency={row.currency}
            aria-label={`${verb} ${visible(row.affiliate_id)}, ${row.amount} ${row.currency}`}
          />
        )
      }
    />
  )
}

interface PostFormProps {
  readonly id: string
  readonly hasFile?: boolean
  readonly children?: Child
}

/** Renders a form with several buttons, each of which names its change, or with a file. */
export const PostForm = ({ id, hasFile, children }: PostFormProps, visit = useVisit()) => (
  <form
    method="post"
    class="change payments"
    id={id}
    enctype={hasFile ? 'multipart/form-data' : undefined}
    data-ticks
  >
    <input type="hidden" name="csrf" value={visit.csrf} />
    {children}
  </form>
)

/** Returns whether the member may change anything but what is paid. */
export const canManage = ({ member }: Visit): boolean => isAtLeast(member.role, 'manager')

/** Returns whether the member may record payments. */
export const canPay = ({ member }: Visit): boolean => isAtLeast(member.role, 'approver')
