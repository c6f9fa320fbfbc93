import * as v from 'valibot'
import * as f from '../../platform/validation/fields.ts'
import { type Issue, parseRuleMessage } from '../../platform/validation/issue.ts'
import { listNames } from '../../platform/validation/messages.ts'
import { pointerStep } from '../../platform/validation/pointer.ts'
import { jsonType } from '../../platform/validation/record-validator.ts'
import { suggest } from '../../platform/validation/suggest.ts'

const CONFIG = {
  abortPipeEarly: true,
  message: ({ expected }: v.BaseIssue<unknown>) => `type ${expected?.toLowerCase()}`,
} as const

/** Validates a JSON value. Returns the parsed value, or all issues in the order of the schema. */
export function validateShape<S extends v.GenericSchema>(
  schema: S,
  value: unknown,
): { issues: Issue[]; output: null } | { issues: []; output: v.InferOutput<S> } {
  const result = v.safeParse(schema, value, CONFIG)
  if (result.success) return { issues: [], output: result.output }
  return { issues: result.issues.flatMap((issue) => toIssues(issue, value)), output: null }
}

/** Returns an issue of Valibot as issues of the API: one for each unknown member of an object. */
function toIssues({ message, path: place }: v.BaseIssue<unknown>, whole: unknown): Issue[] {
  const path: readonly v.IssuePathItem[] = place ?? []
  const steps = path.map(({ key }) => pointerStep(String(key)))
  const last = path.at(-1)
  const value = last ? last.value : whole
  const rule = parseRuleMessage(message)
  const parent = steps.slice(0, -1).join('')
  if (rule.code === 'unknown_field') {
    const names = [...new Set(rule.expected?.split(', '))]
    const unknown = Object.keys(Object(last?.input)).filter((name) => !names.includes(name))
    const instruction = listNames(names)
    return unknown.map((name) => ({
      pointer: parent + pointerStep(name),
      code: 'unknown_field',
      suggestions: names,
      ...(instruction && suggest(name, names) === null && { instruction }),
    }))
  }
  const pointer = steps.join('')
  if (last && value === undefined) return [{ pointer, code: 'required' }]
  return [{ pointer, ...rule, ...describeValue(rule, value) }]
}

/** Returns what an issue says of the value as sent. */
function describeValue(
  { code, expected }: Pick<Issue, 'code' | 'expected'>,
  value: unknown,
): Partial<Issue> {
  if (code === 'type') {
    const isNumber = expected === 'string' && typeof value === 'number'
    const instruction = `Send it as text: \`"${value}"\`.`
    return { received: jsonType(value), ...(isNumber && { instruction }) }
  }
  if (code === 'length') {
    if (Array.isArray(value)) return { received: String(value.length) }
    return typeof value === 'string' ? { received: String(f.countCharacters(value)) } : {}
  }
  const isQuotable = typeof value !== 'object'
  return { ...(isQuotable && { value }), ...instructionFor(code) }
}

function instructionFor(code: Issue['code']): Pick<Issue, 'instruction'> {
  if (code === 'number') {
    return {
      instruction:
        'Send it without separators, plus sign, exponent or leading zeros, such as `"-1000.00"`.',
    }
  }
  return code === 'digits' ? { instruction: 'Round the number.' } : {}
}
