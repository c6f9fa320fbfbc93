import * as v from 'valibot'
import type { DescribedOperation } from '../../src/http/operation-words.ts'
import { usageError } from '../exit-error.ts'
import { OPERATIONS } from '../operations.ts'
import { list, object, sentence } from './format.ts'
import {
  fillTemplate,
  type Input,
  type Operation,
  type OperationOption,
  type Options,
} from './operation.ts'
import { listOperation } from './operations/parts.ts'

// The commands of the operations that are values: arguments are the members of the path, options all others.

/** A schema of a member, as far as an option needs it. */
interface Schema extends v.GenericSchema {
  readonly wrapped?: Schema
  readonly item?: Schema
  readonly options?: readonly string[]
}

const innerOf = (schema: Schema): Schema => (schema.wrapped ? innerOf(schema.wrapped) : schema)

const isNullable = (schema: Schema): boolean =>
  schema.type === 'nullable' || (schema.wrapped !== undefined && isNullable(schema.wrapped))

const metadataOf = (schema: Schema) =>
  v.getMetadata(innerOf(schema) as never) as { description?: string; examples?: unknown[] }

/** The number of a day or an id needs no placeholder of its own: its name says what it is. */
function placeholderOf(name: string, schema: Schema): string {
  const { type, options } = innerOf(schema)
  if (type === 'boolean') return 'true|false'
  if (options) return options.join('|')
  return type === 'number' ? 'n' : name
}

function optionOf(name: string, schema: Schema): OperationOption {
  const inner = innerOf(schema)
  const { description = '' } = metadataOf(schema)
  const choices = inner.type === 'boolean' ? ['true', 'false'] : inner.options
  return {
    value: placeholderOf(name, schema),
    description: isNullable(schema) ? `${description} An empty text removes it.` : description,
    member: name,
    ...(choices && { choices }),
    ...(inner.item && { repeatable: true }),
    ...(schema.type !== 'optional' && { required: true }),
  }
}

/** Returns the name of an option: ids have the name of what they identify. */
const flagOf = (name: string) => name.replace(/_id$/, '').replaceAll('_', '-')

/** Returns the value that a member of a body has, of the texts of an option. */
function valueOfMember(schema: Schema, texts: readonly string[]): unknown {
  const inner = innerOf(schema)
  const [text = ''] = texts
  if (inner.item) return texts
  if (text === '' && isNullable(schema)) return null
  if (inner.type === 'boolean') return text === 'true'
  return inner.type === 'number' || inner.type === 'custom' ? Number(text) : text
}

function bodyOf(of: DescribedOperation, { options }: Input): object {
  const members = Object.entries(of.body as Readonly<Record<string, Schema>>)
  const sent = members.flatMap(([name, schema]) => {
    const texts = options[flagOf(name)]
    return texts ? [[name, valueOfMember(schema, texts)]] : []
  })
  if (of.method !== 'PATCH' || sent.length > 0) return Object.fromEntries(sent)
  const flags = members.map(([name]) => `--${flagOf(name)}`)
  throw usageError(`Nothing to change. Add at least one of ${flags.join(', ')}.`)
}

/** Returns the arguments and options of an example: those that are needed, or one that changes something. */
function exampleOf(of: DescribedOperation, options: Options): string {
  const members = { ...of.params, ...of.body } as Readonly<Record<string, Schema>>
  const exampleOfMember = (name: string) => String(metadataOf(members[name]!).examples?.[0] ?? '')
  const operands = [...of.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) =>
    name === 'account' ? 'acme' : exampleOfMember(name) || name.toUpperCase(),
  )
  const known = Object.entries(options).flatMap(([flag, { member = flag, required }]) => {
    const value = members[member] ? exampleOfMember(member) : ''
    return value === ''
      ? []
      : [{ required, text: `--${flag} ${/\s/.test(value) ? `'${value}'` : value}` }]
  })
  const needed = known.filter(({ required }) => required)
  const shown = needed.length > 0 || of.method !== 'PATCH' ? needed : known.slice(0, 1)
  return [...operands, ...shown.map(({ text }) => text)].join(' ')
}

function toCommand(of: DescribedOperation): Operation {
  const { command, description, answer } = of.words!
  const { name, done, confirm, columns, ...rest } = command!
  const [noun = '', verb] = name.split(' ')
  const isList = Object.hasOwn(of.params, 'cursor')
  const inQuery = Object.entries(of.params).filter(
    ([member]) =>
      !of.path.includes(`{${member}}`) && !['page', 'per_page', 'cursor'].includes(member),
  )
  const { byQuery } = of
  const members = [...inQuery, ...Object.entries(of.body)] as [string, Schema][]
  const options = Object.fromEntries(
    members.map(([member, schema]) => [flagOf(member), optionOf(member, schema)]),
  )
  const own = {
    noun,
    ...(verb && { verb }),
    summary: description,
    example: exampleOf(of, options),
    path: of.path.slice(1).replace(`/{${byQuery}}`, ''),
    ...(byQuery && { argument: byQuery, isArgumentInQuery: true }),
    options,
    format:
      answer === null
        ? sentence(done ?? 'Done.')
        : 'data' in entriesOf(answer)
          ? list(columns)
          : object,
    ...rest,
  }
  if (isList) return listOperation(own)
  return {
    ...own,
    method: of.method,
    ...(of.method !== 'GET' &&
      of.method !== 'DELETE' && { body: (input: Input) => bodyOf(of, input) }),
    ...(confirm && {
      confirmation: ({ operands, options: given }: Input) =>
        Object.entries(confirm.if ?? {}).every(([flag, value]) => given[flag]?.[0] === value)
          ? {
              warning: fillTemplate(confirm.warning, operands),
              name: operands[confirm.name] ?? '',
            }
          : null,
    }),
  }
}

const entriesOf = (schema: v.GenericSchema) =>
  'entries' in schema ? (schema.entries as object) : {}

/** The commands of the operations that are values, in the order of the reference. */
export const DERIVED: readonly Operation[] = OPERATIONS.filter(({ words }) => words?.command).map(
  toCommand,
)
