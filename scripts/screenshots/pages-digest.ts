import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'

/** A set of pictures: the folder that has them, and what their pages are made of. */
export interface PictureSet {
  readonly folder: string
  readonly sources: readonly string[]
}

/** The pictures of the console, and those of the portal. */
export const PICTURES = {
  console: {
    folder: 'docs/console',
    sources: ['src/console/**/*.{ts,tsx}', 'public/assets/console*.{css,js}'],
  },
  portal: {
    folder: 'docs/portal',
    sources: ['src/portal/**/*.{ts,tsx}', 'public/assets/portal*.{css,js}'],
  },
} as const satisfies Readonly<Record<string, PictureSet>>

/** Returns the file with the digest of the pages of which the pictures were taken. */
export const digestFile = ({ folder }: PictureSet): string => `${folder}/pages.sha256`

/** Returns a digest of the sources of the pages: SHA-256 in hexadecimal. */
export function pagesDigest({ sources }: PictureSet): string {
  const hash = createHash('sha256')
  for (const path of globSync([...sources]).toSorted()) {
    hash.update(`${path}\0`)
    hash.update(readFileSync(path))
  }
  return hash.digest('hex')
}
