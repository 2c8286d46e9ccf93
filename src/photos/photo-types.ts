// Photos as returned by verbs, and the context that verbs need.
import type { CatalogueNode } from '#catalogue/context.ts'
import { type Static, Type } from '#core/input.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import type { PhotoFiles } from './photo-files.ts'

/** The photos of a node. */
export interface PhotoNode {
  photos: {
    files: PhotoFiles
    /** maximum of an account */
    perAccount: number
  }
}

export interface PhotoCtx extends WriteCtx, CatalogueNode, PhotoNode {}

export const PhotoSchema = Type.Object(
  {
    id: Type.Integer({ description: 'Unique id' }),
    url: Type.String({ description: 'URL of the largest size, for `images` of a listing' }),
    sizes: Type.Array(
      Type.Object(
        { width: Type.Integer({ description: 'In pixels' }), url: Type.String({ description: 'URL of the size, WebP' }) },
        { title: 'PhotoSize' },
      ),
      { description: 'Smallest first: 320, 800 and 1600 pixels wide, or less if the upload is smaller' },
    ),
    sha256: Type.String({ description: 'Of the upload, hexadecimal' }),
  },
  { title: 'Photo', description: 'An uploaded photo' },
)
export type Photo = Static<typeof PhotoSchema>
