import { referredTo } from './components.ts'

// The documents for one audience each, made of the document of all operations.

/** An OpenAPI document, as far as an audience decides what stays of it. */
interface Document {
  readonly info: { readonly title: string; readonly description: string }
  readonly tags: readonly { readonly name: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>
  readonly components: Readonly<Record<string, Readonly<Record<string, object>>>>
}

interface DocumentedOperation {
  readonly tags: readonly string[]
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
}

/** The audiences by the names of their documents, with the security schemes of their operations. */
export const AUDIENCE_DOCUMENTS = {
  firm: { of: 'firms', schemes: ['oauth'] },
  brand: { of: 'brands', schemes: ['brandToken'] },
  affiliate: { of: 'affiliates', schemes: ['affiliateKey'] },
  admin: { of: 'the integrations team', schemes: ['adminKey', 'access'] },
} as const

/** The name of the document of an audience. */
export type AudienceDocument = keyof typeof AUDIENCE_DOCUMENTS

/** Returns the address of the document of an audience. */
export const documentAddress = (name: AudienceDocument) => `/openapi/${name}.json`

/** Returns what a document has for one audience. Firms have the operations without a credential too: those on tokens. */
export function documentFor<T extends Document>(document: T, name: AudienceDocument): T {
  const { of, schemes } = AUDIENCE_DOCUMENTS[name]
  const isScheme = (scheme: string) => schemes.some((own) => own === scheme)
  const isOwn = ({ security }: DocumentedOperation) =>
    security.length === 0
      ? name === 'firm'
      : security.some((one) => Object.keys(one).some(isScheme))
  const paths = Object.fromEntries(
    Object.entries(document.paths).flatMap(([path, methods]) => {
      const own = Object.entries(methods).filter(([, operation]) => isOwn(operation))
      return own.length > 0 ? [[path, Object.fromEntries(own)]] : []
    }),
  )
  const used = Object.values(paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ tags }) => tags),
  )
  const { securitySchemes = {}, ...components } = document.components
  const { title, description } = document.info
  return {
    ...document,
    info: {
      ...document.info,
      title: `${title} for ${of}`,
      description: `The operations for ${of}.\n\n${description}`,
    },
    tags: document.tags.filter((tag) => used.includes(tag.name)),
    paths,
    components: {
      ...referredTo(components, paths),
      securitySchemes: Object.fromEntries(
        Object.entries(securitySchemes).filter(([scheme]) => isScheme(scheme)),
      ),
    },
  }
}
