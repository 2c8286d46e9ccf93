// Sharing a collection: who sees it, its link, and its worth as a picture for other pages.
import { confirm, Form, type Values } from '#ui/dialog.tsx'
import { Await, Empty } from '#ui/states.tsx'
import { announce } from '#ui/toasts.tsx'
import type { OwnCollection } from '../../../client/src/api.ts'
import { mayWrite, useData, useWrite } from '../api.ts'
import { locale, t, termText } from '../words.ts'
import { CopyText } from './copy-text.tsx'

type Visibility = OwnCollection['visibility']

const VISIBILITIES: readonly Visibility[] = ['private', 'unlisted', 'public']
/** Size of the picture. */
const PICTURE = { width: 640, height: 240 }

export function CollectionSharing({ collectionId }: { collectionId: number }) {
  const collection = useData(`/plus/collections/${collectionId}`)
  return <Await of={collection}>{(row) => <Sharing of={row} onChanged={collection.reload} />}</Await>
}

function Sharing({ of: collection, onChanged }: { of: OwnCollection; onChanged: () => void }) {
  const { id, visibility: current, shared_url: address } = collection
  const { busy, error, write } = useWrite()
  const share = async (visibility: Visibility) => {
    const ends = visibility === 'private' && address !== null
    if (ends && !(await confirm({ title: t('revokeTitle'), text: t('revokeText'), action: t('revokeLink') }))) return
    if (!(await write('PATCH', `/plus/collections/${id}`, { visibility }))) return
    announce(ends ? t('linkRevoked') : t('visibilitySaved', { visibility: termText('visibility', visibility) }))
    onChanged()
  }
  return (
    <>
      <section>
        <h2>{t('visibility')}</h2>
        {mayWrite() ? (
          <div class="settings">
            <Form submit={t('save')} busy={busy} error={error} onSubmit={({ visibility }: Values) => void share(visibility as Visibility)}>
              <fieldset>
                <legend class="hidden">{t('visibility')}</legend>
                {VISIBILITIES.map((visibility) => (
                  <label key={`${visibility} ${current}`} class="check">
                    <input type="radio" name="visibility" value={visibility} defaultChecked={visibility === current} />
                    <span>
                      {termText('visibility', visibility)} <small class="quiet">{termText('visibilityText', visibility)}</small>
                    </span>
                  </label>
                ))}
              </fieldset>
            </Form>
          </div>
        ) : (
          <p>
            {termText('visibility', current)} <small class="quiet">{termText('visibilityText', current)}</small>
          </p>
        )}
      </section>
      {address === null ? <Empty>{t('notShared')}</Empty> : <Shared of={collection} address={address} onRevoke={() => void share('private')} />}
    </>
  )
}

function Shared({ of: { name }, address, onRevoke }: { of: OwnCollection; address: string; onRevoke: () => void }) {
  return (
    <>
      <section class="share">
        <h2>{t('link')}</h2>
        <CopyText label={t('sharedLink')} text={address} hint={t('sharedLinkHint')} />
        <div class="buttons">
          <a class="button" href={address} target="_blank" rel="noopener">
            {t('preview')}
          </a>
          {mayWrite() && (
            <button type="button" class="danger" onClick={onRevoke}>
              {t('revokeLink')}
            </button>
          )}
        </div>
      </section>
      <section class="share">
        <h2>{t('worthPicture')}</h2>
        <p class="quiet">{t('worthPictureText')}</p>
        {/* By its path: the pages load pictures from their own address only. */}
        <img class="worth-picture" src={`${new URL(address).pathname}/worth.svg?lang=${locale.value}`} alt={t('worthPicture')} {...PICTURE} />
        <CopyText label={t('pictureSnippet')} text={snippetOf(address, name)} />
      </section>
    </>
  )
}

/** HTML of the picture, with a link to the shared page. */
function snippetOf(address: string, name: string): string {
  const { width, height } = PICTURE
  return `<a href="${escaped(address)}"><img src="${escaped(address)}/worth.svg" alt="${escaped(name)}" width="${width}" height="${height}"></a>`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
