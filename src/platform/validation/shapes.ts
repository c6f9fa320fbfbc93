import * as v from 'valibot'
import { ruleMessage } from './issue.ts'
import { isObject } from './record-validator.ts'

// The building blocks of a plan's schema. Each reports every mistake with the code of an issue.

/** Returns the message of an issue of an object with these members. */
const objectMessage = (names: string) => (issue: v.BaseIssue<unknown>) => {
  if (!issue.path) return ruleMessage('type', 'object')
  return issue.expected === 'never' ? ruleMessage('unknown_field', names) : ruleMessage('required')
}

/** Returns a schema for objects with these members and no others. An array is not an object. */
export function objectOf<const E extends v.ObjectEntries>(entries: E) {
  const schema = v.strictObject(entries, objectMessage(Object.keys(entries).join(', ')))
  const run: (typeof schema)['~run'] = (dataset, config) =>
    schema['~run'](isObject(dataset.value) ? dataset : { value: null }, config)
  return { ...schema, '~run': run }
}

type Closed = ReturnType<typeof objectOf>

/**
 * Returns a schema for objects of several forms. A form is known by the one member that only it has:
 * a mistake is then reported for that form, and not for all of them.
 */
export function byMember<const O extends Readonly<Record<string, Closed>>>(forms: O) {
  const union = v.union(Object.values(forms) as O[keyof O][])
  const run: (typeof union)['~run'] = (dataset, config) => {
    const { value } = dataset
    const [, form = unknownForm(forms)] =
      Object.entries(forms).find(([name]) => isObject(value) && Object.hasOwn(value, name)) ?? []
    return form['~run'](dataset, config) as ReturnType<typeof run>
  }
  return { ...union, forms, '~run': run }
}

/** Returns a schema that accepts nothing: it reports unknown members, else the missing one. */
function unknownForm(forms: Readonly<Record<string, Closed>>): v.GenericSchema {
  const names = Object.values(forms).flatMap(({ entries }) => Object.keys(entries))
  const anything = v.exactOptional(v.any())
  return v.pipe(
    objectOf(Object.fromEntries(names.map((name) => [name, anything]))),
    v.check(() => false, ruleMessage('choice', Object.keys(forms).join(', '))),
  )
}

/** Returns a schema for lists of 1 to `max` items. */
export function listOf<S extends v.GenericSchema>(item: S, max: number) {
  const message = ruleMessage('length', `1 to ${max} items`)
  return v.pipe(v.array(item), v.minLength(1, message), v.maxLength(max, message))
}
