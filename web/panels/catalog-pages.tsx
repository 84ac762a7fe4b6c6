/** The views beside the templates: the gallery of appliances, and the images. Their code is loaded when they are shown. */
import type { FunctionComponent } from 'preact';
import { useApp } from '../state/app.ts';
import { texts } from '../texts.ts';
import { Lazy } from '../ui/lazy.tsx';
import { TopBar } from './top-bar.tsx';

const loadGallery = async () => {
  const { Gallery } = await import('../catalog/gallery.tsx');
  return () => <Gallery />;
};
const loadImages = async () => (await import('../catalog/image-manager.tsx')).ImageManager;

export const AppliancesPage = () => <CatalogPage title={texts.appliances} load={loadGallery} />;
export const ImagesPage = () => <CatalogPage title={texts.images} load={loadImages} />;

interface CatalogPageProps {
  readonly title: string;
  readonly load: () => Promise<FunctionComponent>;
}

function CatalogPage({ title, load }: CatalogPageProps) {
  return (
    <div class="page">
      <TopBar />
      <main class="projects">
        <div class="projects-head">
          <h1>{title}</h1>
          <CatalogViews />
        </div>
        <Lazy load={load} props={{}} />
      </main>
    </div>
  );
}

/** Links between templates, appliances and images. */
export function CatalogViews() {
  const { name } = useApp().router.view.value;
  const views = [
    ['/templates', texts.templates],
    ['/appliances', texts.appliances],
    ['/images', texts.images],
  ] as const;
  return (
    <nav class="views" aria-label={texts.catalogViews}>
      {views.map(([path, label]) => (
        <a key={path} href={path} aria-current={path === `/${name}` ? 'page' : undefined}>
          {label}
        </a>
      ))}
    </nav>
  );
}
