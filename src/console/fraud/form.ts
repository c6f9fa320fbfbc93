import { checkMeaning, checkShape } from '../../fraud/check-rule.ts'
import type { Kind, Vertical } from '../../fraud/kind.ts'
import { EVENT_LABELS } from '../../fraud/money-records.ts'
import type { ParameterLabel } from '../../fraud/parameters.ts'
import { ALL_AFFILIATES, type RuleTerms } from '../../fraud/rules.ts'
import type { RuleVersion } from '../../fraud/stored-rules.ts'
import { defaultsOf } from '../../fraud/words.ts'
import { readErrors } from '../../pages/api-errors.ts'
import type { FieldError, Values } from '../../pages/base/page.ts'
import { validationFailed } from '../../platform/http/read-fields.ts'
import type { Atom, Field, Members } from '../plans/form/fields.ts'
import { readFields, showFields, type TypedTerms, valuesOf } from '../plans/form/form.ts'

// A version of a fraud rule as the fields of a form, and back. Its fields are the members of the rule.

/** Writes a default with its unit: `14 days`, `60 %`. */
const usualWords = ({ is, unit }: ParameterLabel, usual: unknown): string => {
  if (is === 'percent') return `${usual} %`
  return unit ? `${usual} ${Number(usual) === 1 ? unit.replace(/s$/, '') : unit}` : `${usual}`
}

const limit = (label: string): Atom => ({ is: 'percent', label, hint: 'As above if empty.' })

/** Returns the field of a parameter. */
function parameterField(parameter: ParameterLabel, usual: unknown): Field {
  const { label, is, hint } = parameter
  if (is === 'limits') {
    const members: Members = {
      challenge_type: { is: 'text', label: 'Challenge' },
      daily: limit('Daily limit'),
      total: limit('Limit in all'),
    }
    const item = { is: 'group', label: 'Limits', members } as const
    return { is: 'rows', label, one: 'challenge', item }
  }
  if (is === 'events') {
    const members = Object.entries(EVENT_LABELS).map(([name, text]): [string, Field] => [
      name,
      {
        is: 'list',
        label: text,
        offer: 'events',
        hint: `${listText(Object(usual)[name])} if empty.`,
      },
    ])
    return { is: 'group', label, members: Object.fromEntries(members) }
  }
  const ofDefault =
    usual === undefined || is === 'flag' ? '' : `${usualWords(parameter, usual)} if empty.`
  const hints = [hint, ofDefault].filter(Boolean).join(' ')
  return { is, label, hint: hints }
}

const listText = (names: unknown): string => (Array.isArray(names) ? names.join(', ') : '')

const HOLD = ['hold', 'Opens a case and holds payouts'] as const

/** Returns the fields of a rule of a kind. Names of events are for brands only. */
export function membersOf(kind: Kind, vertical: string, isHoldOffered: boolean): Members {
  const usual = defaultsOf(kind)
  const parameters = Object.entries(kind.parameters.entries)
    .filter(([, { label }]) => label.is !== 'events' || vertical === 'igaming')
    .map(([name, { label }]) => [name, parameterField(label, usual[name])] as const)
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
    scope: {
      is: 'group',
      label: 'Whose records it reads',
      members: {
        affiliates: {
          is: 'list',
          label: 'Only these affiliates',
          hint: 'All if empty. Separate several by commas.',
        },
        not_affiliates: { is: 'list', label: 'But not these affiliates' },
      },
    },
  }
}

/** Returns the values of a form that shows terms. */
export function valuesForTerms(members: Members, terms: Partial<RuleTerms>): Values {
  const { affiliates, ...others } = terms.scope ?? {}
  const scope = affiliates?.includes(ALL_AFFILIATES) ? others : terms.scope
  return valuesOf(showFields(members, { ...terms, scope }))
}

/** Reads what was typed. */
export function typedRule({ kind }: Kind, members: Members, values: Values): TypedTerms {
  const { terms, problems } = readFields(members, values)
  // The first choice is sent as an empty text.
  return { terms: { kind, severity: 'low', ...terms }, problems }
}

/** Checks terms as the administration API does. Returns them with all defaults, or what is wrong. */
export function checkTerms(
  terms: unknown,
  vertical: Vertical,
  latest: Pick<RuleVersion, 'terms'> | undefined,
): { readonly checked: RuleTerms | null; readonly errors: FieldError[] } {
  const { issues, output } = checkShape(terms, vertical)
  const wrong = output ? checkMeaning(output, latest) : issues
  return wrong.length === 0
    ? { checked: output, errors: [] }
    : { checked: output, errors: readErrors(validationFailed(wrong)) }
}
