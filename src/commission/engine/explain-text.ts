import { compare, decimal } from './decimal.ts'
import { factSentences } from './explain-text-facts.ts'
import type {
  AdvanceStep,
  Explanation,
  MeasureStep,
  NegativeStep,
  RateStep,
  Step,
} from './explanation.ts'
import { counted, figure, listed } from './sentences.ts'

/** Writes an explanation in sentences, one or more a step, each on a line of its own. */
export function explanationText(explanation: Explanation): string {
  const { affiliate_id, plan, period, currency, line } = explanation
  const scope = line.scope === 'affiliate' ? '' : `, ${line.scope}`
  const title = `Rule ${line.rule} (version ${line.version}) of the plan ${plan} for the affiliate ${affiliate_id} in ${period}${scope}`
  const digits = minorDigits(line.amount)
  const sentences = explanation.steps.flatMap((step) => sentencesOf(step, explanation, digits))
  const { stored } = explanation
  const changed = stored
    ? [
        `The statement of ${stored.computed_at} says ${figure(stored.amount, digits)} ${currency}. Records have changed since; this is the line as it is computed now.`,
        '',
      ]
    : []
  const approved = closedSentences(explanation, digits)
  return `${[title, '', ...changed, ...approved, ...sentences].join('\n')}\n`
}

/** Writes what was approved of a line, if its period is closed. */
function closedSentences(
  { closed, currency, period, steps }: Explanation,
  digits: number,
): string[] {
  if (!closed) return []
  const money = (text: string): string => `${figure(text, digits)} ${currency}`
  const approvedText =
    closed.amount === null
      ? 'No statement with this line was approved.'
      : `The approved statement says ${money(closed.amount)}.`
  const adjusted = closed.adjustments.map((one) => `${money(one.amount)} in ${one.period}`)
  return [
    `The period ${period} is closed. ${approvedText}`,
    ...(adjusted.length > 0 ? [`Adjustments of this line: ${listed(adjusted)}.`] : []),
    steps.length > 0
      ? 'This is the line as it is computed now.'
      : 'As the records are now, this line no longer exists.',
    '',
  ]
}

/** The minor digits with which the line's amount is written. */
const minorDigits = (amount: string): number => amount.split('.')[1]?.length ?? 0

function sentencesOf(
  step: Step,
  { affiliate_id, currency, steps }: Explanation,
  digits: number,
): string[] {
  const money = (text: string): string => `${figure(text, digits)} ${currency}`
  switch (step.step) {
    case 'fence':
      return [
        `The base of the affiliate is ${money(step.before)}. High-roller losses ring-fenced in this period: ${money(step.fenced)}. Recovered from customers with earlier ring-fenced losses: ${money(step.paid_back)}.`,
        `So the base is ${figure(step.before)} − ${figure(step.paid_back)} + ${figure(step.fenced)} = ${money(step.base)}.`,
      ]
    case 'measure':
      return measureSentences(step, (rate) =>
        steps.some((one) => 'rate_is' in one && one.rate_is === 'percent')
          ? `${figure(rate)} %`
          : money(rate),
      )
    case 'rate':
      return rateSentences(step, money)
    case 'clamp':
      return [
        `The rule pays ${bounds(step.min_amount, step.max_amount, money)} for each customer: ${money(step.after)}.`,
      ]
    case 'rounding':
      return step.before === step.after || figure(step.before, digits) === figure(step.after)
        ? []
        : [`${figure(step.before)} is rounded to ${money(step.after)} (half to even).`]
    case 'max_per_customer':
      return [
        `The rule pays at most ${money(step.max)} for a customer: ${cutText(step.capped, step.after, money)}.`,
      ]
    case 'negative':
      return negativeSentences(step, money)
    case 'max_count':
      return [
        `The rule pays for at most ${counted(step.max_count, 'customer')} in a period. This is number ${step.position}: ${cutText(step.capped, step.after, money)}.`,
      ]
    case 'max':
      return [
        `The lines of the rule are limited to ${money(step.max)} in all: ${cutText(step.capped, step.after, money)}.`,
      ]
    case 'advance':
      return advanceSentences(step, money)
    case 'amount':
      return [`The line pays ${money(step.amount)}.`]
    default:
      return factSentences(step, currency, affiliate_id)
  }
}

type Money = (text: string) => string

const isNothing = (text: string): boolean => /^-?[0.]+$/.test(text)

const cutText = (capped: string, after: string, money: Money): string =>
  isNothing(capped) ? 'not reduced' : `reduced by ${money(capped)} to ${money(after)}`

function bounds(min: string | null, max: string | null, money: Money): string {
  if (min !== null && max !== null) return `${money(min)} to ${money(max)}`
  return min === null ? `at most ${money(max ?? '0')}` : `at least ${money(min)}`
}

function measureSentences(step: MeasureStep, rateText: Money): string[] {
  const { earlier, own, network, measure, steps, mode, covered } = step
  const added = [
    isNothing(earlier) ? '' : `${figure(earlier)} of earlier periods`,
    `${figure(own)} of this period`,
    isNothing(network) ? '' : `${figure(network)} of the affiliates below`,
  ].filter((text) => text !== '')
  const sum = added.length === 1 ? '' : ` (${added.join(' + ')})`
  const volume = decimal(measure)
  const reached = steps.findLast(({ from }) => compare(volume, decimal(from)) >= 0) ?? steps[0]
  const tiers = steps.map(
    (one) => `${rateText(one.rate)} from ${figure(one.from)}${one === reached ? ' (reached)' : ''}`,
  )
  const first = `Tier measure: ${figure(measure)}${sum}. Tiers: ${tiers.join(', ')}.`
  if (mode === 'whole') return [first]
  const before = isNothing(covered ?? '0')
    ? ''
    : ` Earlier lines and periods used ${figure(covered ?? '0')}.`
  return [`${first} Each part is paid at its own step.${before}`]
}

function rateSentences({ parts, rate_is, amount, rounded }: RateStep, money: Money): string[] {
  const approximately = rounded ? 'about ' : ''
  const each = parts.map(({ quantity, rate, amount: paid }) =>
    rate_is === 'percent'
      ? `${figure(rate)} % of ${figure(quantity)} is ${approximately}${figure(paid)}.`
      : quantity === '1'
        ? `The rule pays ${money(rate)}.`
        : `${figure(quantity)} × ${figure(rate)} is ${approximately}${figure(paid)}.`,
  )
  return parts.length > 1 ? [...each, `Together that is ${approximately}${money(amount)}.`] : each
}

function negativeSentences(step: NegativeStep, money: Money): string[] {
  if (step.negative === 'zero') {
    return step.before === step.after
      ? []
      : [`${money(step.before)} is negative and is not paid: the rule writes negative amounts off.`]
  }
  const { before, carried_in, carried_out, after } = step
  if (isNothing(carried_in) && isNothing(carried_out)) return []
  const balance = `${money(before)} with ${money(carried_in)} carried in from earlier periods`
  return isNothing(carried_out)
    ? [`${balance} is ${money(after)}.`]
    : [`${balance} is ${money(carried_out)}, which is carried to the next period. Nothing is paid.`]
}

function advanceSentences(step: AdvanceStep, money: Money): string[] {
  const { recoups, before, paid_once, deficit_in, deficit_out, after } = step
  const first = `The rule ${recoups} paid ${money(paid_once)} in this period. Advance still to recover from earlier periods: ${money(deficit_in)}.`
  const sum = `${figure(before)} − ${figure(paid_once)} − ${figure(deficit_in)}`
  return isNothing(deficit_out)
    ? [first, `${sum} is ${money(after)}.`]
    : [
        first,
        `${sum} is −${money(deficit_out)}: nothing is paid, and ${money(deficit_out)} is still to recover.`,
      ]
}
