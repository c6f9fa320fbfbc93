import { parseAst } from 'vitest/node'

/** A name that a file of TypeScript gives, and its line, counted from 1. */
export interface DeclaredName {
  name: string
  line: number
  /** Whether it names a function: a declared one, or one that is assigned to a variable. */
  isFunction: boolean
  /** Whether it names a member of a type, an object, a class or an enumeration. */
  isMember: boolean
}

/** A node of the syntax tree, as far as this file reads it. */
interface Node {
  type: string
  start: number
  name?: string
  shorthand?: boolean
  [member: string]: unknown
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value

const isFunction = (value: unknown) => isNode(value) && /Function/.test(value.type)

const nodesIn = (value: unknown): Node[] => (Array.isArray(value) ? value.filter(isNode) : [])

/**
 * Returns the identifiers that a pattern gives. A member that is taken out of an object under its own
 * name is left out: the object has given it the name.
 */
function identifiersIn(pattern: unknown): Node[] {
  if (!isNode(pattern)) return []
  switch (pattern.type) {
    case 'Identifier':
      return [pattern]
    case 'ArrayPattern':
      return nodesIn(pattern.elements).flatMap(identifiersIn)
    case 'ObjectPattern':
      return nodesIn(pattern.properties)
        .filter(({ shorthand }) => !shorthand)
        .flatMap((one) => identifiersIn(one.type === 'Property' ? one.value : one))
    default:
      // A parameter with a default, a rest parameter, or one that is also a member of its class.
      return identifiersIn(pattern.left ?? pattern.argument ?? pattern.parameter)
  }
}

/** The nodes that name a member of a type, an object, a class or an enumeration. */
const MEMBER =
  /^(?:TSPropertySignature|TSMethodSignature|Property|PropertyDefinition|MethodDefinition|TSEnumMember)$/

/** Returns the names that a node gives, and those that the nodes in it give. */
function namesIn(tree: unknown, lineOf: (start: number) => number): DeclaredName[] {
  if (Array.isArray(tree)) return tree.flatMap((one) => namesIn(one, lineOf))
  if (!isNode(tree)) return []
  const { type, id, key, params, init } = tree
  const hasName =
    isFunction(tree) || /^(?:VariableDeclarator|Class\w+|TS\w+Declaration)$/.test(type)
  const hasParameters = isFunction(tree) || type === 'TSMethodSignature'
  // A member that an object takes over under its own name was named elsewhere.
  const isMember = MEMBER.test(type) && !tree.shorthand && !tree.computed
  const describe =
    (isFunction: boolean, isMember = false) =>
    (node: Node) => ({ name: node.name!, line: lineOf(node.start), isFunction, isMember })
  // A pattern does not name the members that it takes out of an object.
  const inner =
    type === 'ObjectPattern'
      ? [tree.typeAnnotation, ...nodesIn(tree.properties).map((one) => one.value ?? one)]
      : Object.values(tree)
  return [
    ...(hasName ? identifiersIn(id) : []).map(describe(isFunction(tree) || isFunction(init))),
    ...(isMember ? identifiersIn(key ?? id) : []).map(describe(isFunction(tree.value), true)),
    ...(hasParameters ? nodesIn(params).flatMap(identifiersIn) : []).map(describe(false)),
    ...inner.flatMap((one) => namesIn(one, lineOf)),
  ]
}

/**
 * Returns the names of the variables, functions, parameters, classes, types and members of a file of
 * TypeScript, in no particular order. Names of imports are not among them: they are given elsewhere.
 */
export function declaredNames(path: string, text: string): DeclaredName[] {
  const lineOf = (start: number) => text.slice(0, start).split('\n').length
  return namesIn(parseAst(text, { lang: path.endsWith('x') ? 'tsx' : 'ts' }), lineOf)
}
