import { escapeText } from '../../src/platform/validation/quote.ts'
import type { AdminRequest, SendRequest } from './request.ts'

/** An option of an operation. */
export interface OperationOption {
  description: string
  /** The placeholder of the value in help; undefined: the option takes no value. */
  value?: string
  /** All possible values. */
  choices?: readonly string[]
  /** The form of the value. */
  pattern?: RegExp
  required?: boolean
  repeatable?: boolean
  /** The name in the API, if it is not the name of the option with underscores. */
  member?: string
}

/** The options of an operation, by name. */
export type Options = Readonly<Record<string, OperationOption>>

/** The values of the command line. */
export interface Input {
  /** The values of the arguments in the path, and of the additional argument, by name. */
  operands: Record<string, string>
  /** The values of the options that are given, by name; a flag has no values. */
  options: Record<string, string[]>
  json: boolean
  /** Whether CSV begins with a byte order mark. */
  excel: boolean
  yes: boolean
}

/** An irreversible effect that the user confirms by typing a name. */
export interface Confirmation {
  warning: string
  name: string
}

/** An operation of the admin API: parser, help and request derive from it. */
export interface Operation {
  noun: string
  verb?: string
  summary: string
  /** The arguments and options of an example, after noun and verb. */
  example: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The path below `/admin/v1/`; its parameters are the arguments, in order. */
  path: string
  /** The path of the API that has the arguments in their order, if `path` has not all of them. */
  order?: string
  /** An argument that is not in the path. */
  argument?: string
  /** Whether that argument is a query parameter: an id such as `..` cannot stand in a path. */
  isArgumentInQuery?: boolean
  options?: Options
  /** Those options that are in the query although the request has a body. */
  inQuery?: Options
  /** Returns the body of the request; without it the options are the query. */
  body?: (input: Input) => object | string
  /** Runs the operation; without it the body of one response is the result. `report` prints progress. */
  run?: (
    send: SendRequest,
    request: AdminRequest,
    input: Input,
    report: (text: string) => void,
  ) => Promise<unknown>
  /** Prints results as they come; then there is no other result. */
  follow?: (
    send: SendRequest,
    request: AdminRequest,
    input: Input,
    print: (text: string) => void,
  ) => Promise<void>
  /** Formats the result for people. */
  format: (body: unknown, input: Input) => string
  /** The member of the result that is a secret, shown only once. */
  secret?: string
  /** Returns what the user has to confirm, or null. The operation then also has `--yes`. */
  confirmation?: (input: Input) => Confirmation | null
  /** What to do if it is unknown whether a request that is never retried took effect. */
  recovery?: string
}

/** Returns the name of an operation as it is typed. */
export const nameOf = ({ noun, verb }: Operation) => (verb ? `${noun} ${verb}` : noun)

const PARAMETER = /\{(\w+)\}/g

/** Returns the names of the arguments of an operation, in order. */
export const argumentsOf = ({ path, argument, order = path }: Operation): string[] => {
  const names = [...order.matchAll(PARAMETER)].map(([, name = '']) => name)
  return argument && !names.includes(argument) ? [...names, argument] : names
}

/** Returns a template with its parameters replaced by the arguments. */
export const fillTemplate = (template: string, operands: Record<string, string>) =>
  template.replace(PARAMETER, (_, name) => escapeText(operands[name] ?? ''))

/** Returns the request of an operation. */
export function toRequest(operation: Operation, input: Input): AdminRequest {
  const { method, path, body, options, inQuery, argument, isArgumentInQuery } = operation
  const parameter =
    argument && isArgumentInQuery ? { [argument]: input.operands[argument] ?? '' } : {}
  return {
    method,
    path: path.replace(PARAMETER, (_, name) => encodeURIComponent(input.operands[name] ?? '')),
    query: { ...membersOf(body ? inQuery : options, input), ...parameter },
    ...(body && { body: body(input) }),
  }
}

/** Returns the options that are given, with their names in the API. */
function membersOf(options: Options = {}, input: Input): Record<string, string> {
  const members = Object.entries(options).flatMap(([name, { member }]) => {
    const [value] = input.options[name] ?? []
    return value === undefined ? [] : [[member ?? name.replaceAll('-', '_'), value] as const]
  })
  return Object.fromEntries(members)
}
