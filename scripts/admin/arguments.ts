import { parseArgs } from 'node:util'
import { suggest } from '../../src/validation/suggest.ts'
import { Halt, misuse } from '../push/halt.ts'
import {
  type Command,
  type Option,
  type Options,
  operandsOf,
  type Request,
  requestOf,
  type Said,
} from './command.ts'
import { COMMANDS } from './commands.ts'
import { help, helpOf, USAGE, usageOf } from './help.ts'
import { plain } from './plain.ts'

/** What the command line asks for: a command, or help. */
export type Errand = { command: Command; said: Said; request: Request } | { help: string }

const JSON_ONLY: Option = { about: 'the JSON of the API' }
const YES: Option = { about: 'goes on without asking' }
const HELP: Option = { about: 'this' }

const ALL: Options = Object.assign(
  { json: JSON_ONLY, yes: YES, help: HELP },
  ...COMMANDS.map(({ options }) => options),
)

const OPTIONS = Object.fromEntries(
  Object.entries(ALL).map(([name, { hint }]) => {
    const type = hint === undefined ? ('boolean' as const) : ('string' as const)
    return [name, { type, ...(name === 'help' && { short: 'h' }) }]
  }),
)

/** Reads the command line; what is wrong with it is said with the usage line. */
export function readArguments(args: string[]): Errand {
  const { tokens } = parseArgs({
    args,
    options: OPTIONS,
    strict: false,
    allowPositionals: true,
    tokens: true,
  } as const)
  const words = tokens.flatMap((one) => (one.kind === 'positional' ? [one.value] : []))
  const options = tokens.filter((one) => one.kind === 'option')
  const isHelp = options.some(({ name }) => name === 'help')
  if (isHelp && words.length === 0) return { help: help() }

  const [noun = '', verb = ''] = words
  const ofNoun = COMMANDS.filter((one) => one.noun === noun)
  if (ofNoun.length === 0) {
    const nouns = [...new Set(COMMANDS.map((one) => one.noun))]
    throw withUsage(unknown('command', noun, nouns), [USAGE])
  }
  const command = ofNoun.find((one) => !one.verb || one.verb === verb)
  if (isHelp) return { help: helpOf(command ? [command] : ofNoun) }
  if (!command) {
    const verbs = ofNoun.map((one) => one.verb!)
    const near = suggest(verb, verbs)
    const shown = ofNoun.filter((one) => near === null || one.verb === near)
    throw withUsage(unknown(`${noun} command`, verb, verbs), shown.map(usageOf))
  }
  try {
    const said = {
      ...optionsIn(command, options),
      ...operandsIn(command, words.slice(command.verb ? 2 : 1)),
    }
    return { command, said, request: requestOf(command, said) }
  } catch (error) {
    throw error instanceof Halt ? withUsage(error, [usageOf(command)]) : error
  }
}

const withUsage = (error: Error, usages: readonly string[]) =>
  misuse(`${error.message}\nUsage: ${usages.join('\n       ')}`, error)

interface OptionToken {
  name: string
  rawName: string
  value?: string | undefined
  inlineValue?: boolean | undefined
}

function optionsIn(command: Command, tokens: readonly OptionToken[]) {
  const known: Options = { ...command.options, json: JSON_ONLY, ...(command.lost && { yes: YES }) }
  const names = Object.keys(known).map((name) => `--${name}`)
  const options: Record<string, string[]> = {}
  for (const { name, rawName, value, inlineValue } of tokens) {
    const option = Object.hasOwn(known, name) ? known[name] : undefined
    if (!option) throw unknown('option', rawName, names)
    const { hint, pattern, about } = option
    if (hint === undefined) {
      if (value !== undefined) throw misuse(`${rawName} takes no value.`)
    } else if (value === undefined || (value.startsWith('-') && !inlineValue)) {
      throw misuse(`${rawName} needs a value; one that begins with a dash is ${rawName}=-x.`)
    } else {
      checked(rawName, hint, value)
      if (pattern?.test(value) === false) throw misuse(`${rawName} is written ${hint}: ${about}.`)
    }
    const before = options[name]
    if (before && !option.many) throw misuse(`${rawName} is there twice.`)
    options[name] = [...(before ?? []), ...(value === undefined ? [] : [value])]
  }
  for (const [name, { required }] of Object.entries(command.options ?? {})) {
    if (required && !options[name]) throw misuse(`--${name} is missing.`)
  }
  const { json, yes, ...own } = options
  return { options: own, json: json !== undefined, yes: yes !== undefined }
}

function operandsIn(command: Command, words: readonly string[]) {
  const names = operandsOf(command)
  const operands = names.map((name, i) => {
    const word = words[i]
    // An empty one is a variable of the shell that is not set; dots would climb up the address.
    if (!word) throw misuse(`${name} is missing.`)
    if (word === '.' || word === '..') throw misuse(`A URL cannot name "${word}" as ${name}.`)
    checked(name, name, word)
    return [name, word] as const
  })
  const more = words.slice(names.length)
  if (more.length > 0 && !command.words) {
    throw misuse(`There is nothing that "${plain(more[0]!)}" could be.`)
  }
  return { operands: Object.fromEntries(operands), words: more }
}

/** Where a hint is words between bars, the value is one of them. */
function checked(name: string, hint: string, value: string) {
  const choices = hint.split('|')
  if (choices.length > 1 && !choices.includes(value)) throw unknown(name, value, choices)
}

/** A word that should have been one of some. */
function unknown(what: string, word: string, known: readonly string[]) {
  const near = suggest(word, known)
  const hint = near ? `did you mean ${near}?` : `known are: ${known.join(', ')}.`
  const wrong = word === '' ? `Say which ${what}` : `"${plain(word)}" is no ${what}`
  return misuse(`${wrong}; ${hint}`)
}
