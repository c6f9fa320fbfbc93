import { checkMeaning, checkShape } from '../../fraud/check-rule.ts'
import type { Kind, ParameterLabel, Vertical } from '../../fraud/kind.ts'
import { EVENT_LABELS } from '../../fraud/money-records.ts'
import { ALL_AFFILIATES, type RuleTerms } from '../../fraud/rules.ts'
import type { RuleVersion } from '../../fraud/stored-rules.ts'
import { defaultsOf, kindNamed } from '../../fraud/words.ts'
import { validationFailed } from '../../http/read-fields.ts'
import { readErrors } from '../api-errors.ts'
import type { FieldError, Values } from '../page.ts'
import type { Atom, Field, Members } from '../plan/fields.ts'
import { readFields, rowCount, showFields, valuesOf, withoutRow, withRow } from '../plan/form.ts'
import { type Labels, plainErrorWith } from '../plan/places.ts'

// A version of a fraud rule as the fields of a form, and back. The form has lists of affiliates beside each
// other, and limits by challenge as rows; otherwise its fields are the members of the rule.

type Json = Readonly<Record<string, unknown>>

/** The decimal places of amounts, which decide what `1,234` means. */
const DIGITS = 2

/** The rows of limits by challenge, and the members that they have. */
export const LIMITS_PATH = 'parameters/by_challenge_type'
const LIMITS = 'by_challenge_type'

/** Writes a default with its unit: `14 days`, `60 %`. */
const usualWords = ({ is, unit }: ParameterLabel, usual: unknown): string => {
  if (is === 'percent') return `${usual} %`
  return unit ? `${usual} ${Number(usual) === 1 ? unit.replace(/s$/, '') : unit}` : `${usual}`
}

const ATOMS: Readonly<Record<string, Atom['is'] & ('whole' | 'amount' | 'percent' | 'flag')>> = {
  whole: 'whole',
  decimal: 'amount',
  percent: 'percent',
  flag: 'flag',
}

const limit = (label: string): Atom => ({
  is: 'percent',
  label,
  hint: 'As above if empty.',
  placeholder: '',
})

/** Returns the field of a parameter. */
function parameterField(parameter: ParameterLabel, usual: unknown): Field {
  const { label, is, hint } = parameter
  if (is === 'limits') {
    const members: Members = {
      type: { is: 'text', label: 'Challenge', offer: 'challenges' },
      daily: limit('Daily limit'),
      total: limit('Limit in all'),
    }
    return { is: 'rows', label, one: 'challenge', item: { is: 'group', label: 'Limits', members } }
  }
  if (is === 'events') {
    const members = Object.entries(EVENT_LABELS).map(([name, text]): [string, Field] => [
      name,
      {
        is: 'list',
        label: text,
        offer: 'events',
        hint: `${listText(Object(usual)[name])} if empty.`,
        placeholder: '',
      },
    ])
    return { is: 'group', label, members: Object.fromEntries(members) }
  }
  const ofDefault =
    usual === undefined || is === 'flag' ? '' : `${usualWords(parameter, usual)} if empty.`
  const hints = [hint, ofDefault].filter(Boolean).join(' ')
  return {
    is: ATOMS[is] ?? 'amount',
    label,
    ...(hints && { hint: hints }),
    placeholder: '',
  }
}

const listText = (names: unknown): string => (Array.isArray(names) ? names.join(', ') : '')

const HOLD = ['hold', 'Opens a case and holds payouts'] as const

/** Returns the fields of a rule of a kind. Names of events are for brands only. */
export function membersOf(kind: Kind, vertical: string, isHoldOffered: boolean): Members {
  const usual = defaultsOf(kind)
  const parameters = Object.entries(kind.labels)
    .filter(([, { is }]) => is !== 'events' || vertical === 'igaming')
    .map(([name, label]) => [name, parameterField(label, usual[name])] as const)
  return {
    parameters: { is: 'group', label: 'What it compares', members: Object.fromEntries(parameters) },
    name: { is: 'text', label: 'Name' },
    effective_from: {
      is: 'day',
      label: 'From',
      hint: 'The first day whose records it reads. It may be in the past.',
    },
    severity: {
      is: 'choice',
      label: 'Severity of its cases',
      options: [
        ['low', 'Low'],
        ['medium', 'Medium'],
        ['high', 'High'],
      ],
    },
    action: {
      is: 'choice',
      label: 'What it does',
      options: [['flag', 'Opens a case'], ...(isHoldOffered ? [HOLD] : [])],
    },
    ...(isHoldOffered && {
      reserve_percent: {
        is: 'percent',
        label: 'Held part of each payout',
        hint: 'All of it if empty.',
        placeholder: '',
      },
    }),
    affiliates: {
      is: 'list',
      label: 'Only these affiliates',
      offer: 'affiliates',
      hint: 'All if empty. Separate several by commas.',
      placeholder: '',
    },
    not_affiliates: {
      is: 'list',
      label: 'But not these affiliates',
      offer: 'affiliates',
      placeholder: '',
    },
  }
}

/** Returns the labels of the fields of a form, by the names of their members. */
function labelsOf(members: Members): Labels {
  const below = (all: Members): [string, string][] =>
    Object.entries(all).flatMap(([name, field]) => [
      [name, field.label],
      ...(field.is === 'group' ? below(field.members) : []),
      ...(field.is === 'rows' && field.item.is === 'group' ? below(field.item.members) : []),
    ])
  return new Map(below(members))
}

/** Returns the values of a form that shows terms. */
export function valuesForTerms(members: Members, terms: Partial<RuleTerms>): Values {
  const { scope, parameters, ...others } = terms
  const { affiliates = [ALL_AFFILIATES], not_affiliates } = scope ?? {}
  const offered = members.parameters?.is === 'group' ? members.parameters.members : {}
  const own = Object.entries(Object(parameters)).flatMap(([name, value]): [string, unknown][] => {
    // The names of events are of no use to partners.
    if (!Object.hasOwn(offered, name)) return []
    if (name !== LIMITS) return [[name, value]]
    const rows = Object.entries(Object(value)).map(([type, one]) => ({ type, ...Object(one) }))
    return rows.length > 0 ? [[name, rows]] : []
  })
  const shown = {
    ...others,
    ...(!affiliates.includes(ALL_AFFILIATES) && { affiliates }),
    ...(not_affiliates && { not_affiliates }),
    parameters: Object.fromEntries(own),
  }
  return valuesOf(showFields(members, shown, DIGITS))
}

/** What was typed: the terms, and what cannot be understood. */
export interface TypedRule {
  readonly terms: Json
  readonly problems: readonly FieldError[]
}

/** Returns rows of limits as the member of the rule, and what is wrong with them. */
function readLimits(limits: unknown): { byType: Json; problems: FieldError[] } {
  const entries = (Array.isArray(limits) ? limits : []).map((one: unknown) => {
    const { type, ...own } = Object(one)
    return [String(type ?? ''), own] as const
  })
  const problems = entries.flatMap(([type], i): FieldError[] => {
    const pointer = `/${LIMITS_PATH}/${i}/type`
    if (type === '') return [{ pointer, message: 'Write the challenge, or remove these limits.' }]
    const isRepeated = entries.findIndex(([one]) => one === type) < i
    return isRepeated ? [{ pointer, message: 'This challenge has limits above.' }] : []
  })
  return { byType: Object.fromEntries(entries), problems }
}

/** Reads what was typed. */
export function typedRule(kind: Kind, members: Members, values: Values): TypedRule {
  const { value, problems } = readFields(members, values, DIGITS)
  const { affiliates, not_affiliates, parameters, ...others } = value
  const { [LIMITS]: limits, ...own } = Object(parameters)
  const read = Object.hasOwn(kind.labels, LIMITS) ? readLimits(limits) : null
  const scope = {
    ...(affiliates !== undefined && { affiliates }),
    ...(not_affiliates !== undefined && { not_affiliates }),
  }
  return {
    terms: {
      kind: kind.kind,
      // The first choice is sent as an empty text.
      severity: 'low',
      ...others,
      ...(Object.keys(scope).length > 0 && { scope }),
      parameters: {
        ...own,
        ...(read && Object.keys(read.byType).length > 0 && { [LIMITS]: read.byType }),
      },
    },
    problems: [...problems, ...(read?.problems ?? [])],
  }
}

/** Returns an error of the API at the fields of the form, in its words. */
export function errorsInForm(
  errors: readonly FieldError[],
  members: Members,
  values: Values,
): FieldError[] {
  const plain = plainErrorWith(labelsOf(members))
  const types = Array.from({ length: rowCount(values, LIMITS_PATH) }, (_, i) =>
    values(`${LIMITS_PATH}/${i}/type`).trim(),
  )
  return errors.map(({ pointer = '', ...error }) => {
    const [, type = '', rest = ''] = new RegExp(`^/${LIMITS_PATH}/([^/]*)(.*)$`).exec(pointer) ?? []
    const row = types.indexOf(type.replaceAll('~1', '/').replaceAll('~0', '~'))
    return plain({
      ...error,
      pointer:
        type === '' ? pointer.replace(/^\/scope(?=\/)/, '') : `/${LIMITS_PATH}/${row}${rest}`,
    })
  })
}

/** Checks terms as the administration API does. Returns them with all defaults, or what is wrong. */
export function checkTerms(
  terms: unknown,
  vertical: Vertical,
  others: readonly RuleVersion[],
): { readonly checked: RuleTerms | null; readonly errors: FieldError[] } {
  const { issues, output } = checkShape(terms, vertical)
  const wrong = output ? checkMeaning(output, others) : issues
  return wrong.length === 0
    ? { checked: output, errors: [] }
    : { checked: output, errors: readErrors(validationFailed(wrong)) }
}

/** Returns which thresholds of a valid rule never or always hold, in the words of its form. */
export function doubtsOf({ kind, parameters }: RuleTerms): string[] {
  const own = kindNamed(kind)
  const labels = own?.labels ?? {}
  const labelOf = (name: string) => labels[name]?.label ?? name.replaceAll('_', ' ')
  return (own?.doubts?.(parameters) ?? []).map(({ pointer, holds, because }) => {
    const name = pointer.split('/')[1] ?? ''
    const reason = because.replace(/`(\w+)`/g, (_, one) => `“${labelOf(one)}”`)
    return `“${labelOf(name)}” ${holds === 'never' ? 'can never be reached' : 'is always reached'}. ${reason}`
  })
}

/** Returns what the form of a rule shows again for one of its buttons; null for the button that saves. */
export function redrawRule(values: Values): Values | null {
  const [does, path = ''] = values('do').split(' ')
  if (does === 'show') return values
  if (does === 'add') return withRow(values, path)
  if (does !== 'remove') return null
  const at = path.lastIndexOf('/')
  return withoutRow(values, path.slice(0, at), Number(path.slice(at + 1)))
}
