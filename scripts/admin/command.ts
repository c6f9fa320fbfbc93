import type { Service } from './service.ts'

/** An option of a command. */
export interface Option {
  /** What its value looks like; words between bars are all it may be. Without one: no value. */
  hint?: string
  /** What its value must match. */
  pattern?: RegExp
  about: string
  required?: boolean
  /** Whether it may be there more than once. */
  many?: boolean
  /** What the API calls it, where that is not its own name with underscores. */
  member?: string
}

/** The options of a command, by name. */
export type Options = Readonly<Record<string, Option>>

/** What was said on the command line. */
export interface Said {
  /** The operands, by the name that the usage line has for them. */
  operands: Record<string, string>
  /** What follows the operands, where any number of words may. */
  words: string[]
  options: Record<string, string[]>
  json: boolean
  yes: boolean
}

/** A request to the API. */
export interface Request {
  method: string
  /** Below `/admin/v1/`, encoded. */
  path: string
  query: Record<string, string>
  body?: object
}

/** One command: parser, help and request are made from it. */
export interface Command {
  noun: string
  verb?: string
  about: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The address below `/admin/v1/`; its segments in capitals, or with bars, are operands. */
  path: string
  /** An operand that is not in the address. */
  operand?: string
  /** What any number of words after the operands look like. */
  words?: string
  options?: Options
  /** The body; without one the options are the query. */
  body?: (said: Said) => object
  /** Asks for it; without one it is one request, whose body is the answer. */
  run?: (service: Service, request: Request, said: Said) => Promise<unknown>
  /** The answer for a reader. */
  show: (body: unknown, said: Said) => string
  /** The member of the answer that is a secret, shown this once. */
  secret?: string
  /** What is lost for good, so that it is asked before. */
  lost?: string
  /** What to do when it is not known whether a request that must not be repeated was obeyed. */
  unsure?: string
}

/** The name of a command, as it is typed. */
export const nameOf = ({ noun, verb }: Command) => (verb ? `${noun} ${verb}` : noun)

const isOperand = (segment: string) => /^[A-Z_]+$|\|/.test(segment)

/** The operands of a command, in the order in which they are typed. */
export const operandsOf = ({ path, operand }: Command): string[] => [
  ...path.split('/').filter(isOperand),
  ...(operand ? [operand] : []),
]

/** The request that a command makes of what was said. */
export function requestOf(command: Command, said: Said): Request {
  const { method, path, body } = command
  const segments = path.split('/').map((segment) => {
    return isOperand(segment) ? encodeURIComponent(said.operands[segment]!) : segment
  })
  return {
    method,
    path: segments.join('/'),
    query: body ? {} : membersOf(command.options, said),
    ...(body && { body: body(said) }),
  }
}

/** The options that were said, as the API calls them. */
export function membersOf(options: Options = {}, said: Said): Record<string, string> {
  const members = Object.entries(options).flatMap(([name, { member }]) => {
    const [value] = said.options[name] ?? []
    return value === undefined ? [] : [[member ?? name.replaceAll('-', '_'), value] as const]
  })
  return Object.fromEntries(members)
}
