import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { usageError } from '../exit-error.ts'
import { list } from './format.ts'
import type { Input, Operation } from './operation.ts'

/** The plans that are ready to copy. */
const FOLDER = 'examples/plans'

/** The members of a plan that the list of templates shows. */
interface Template {
  name: string
  currency: string
  period: string
  rules: readonly { kind: string }[]
}

const namesOf = (folder: string) =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.replace(/\.json$/, ''))
    .sort()

const readTemplate = (template: string): Template =>
  JSON.parse(readFileSync(join(FOLDER, `${template}.json`), 'utf8'))

/** Lists the templates, or returns the one that is named. */
export function readTemplates({ options: { print } }: Input): object {
  const names = namesOf(FOLDER)
  const [wanted] = print ?? []
  if (wanted === undefined) {
    const data = names.map((template) => {
      const { name, currency, period, rules } = readTemplate(template)
      const kinds = rules.map(({ kind }) => kind)
      return { template, name, currency, period, rules: kinds }
    })
    return { data }
  }
  if (names.includes(wanted)) return readTemplate(wanted)
  throw usageError(`There is no template \`${wanted}\`. Use ${names.join(', ')}.`)
}

/** Formats the list as a table, and a template as the JSON file that `plans put` reads. */
export const formatTemplates: Operation['format'] = (body, input) =>
  input.options.print ? JSON.stringify(body, null, 2) : list()(body, input)
