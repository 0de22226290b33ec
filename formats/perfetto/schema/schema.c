/* The tables of schema.def: messages and their fields by number, for checks and raw records; reading a
 * message into a struct. */
#include "perfetto/schema/schema.h"

#define DATA PF_IS_DATA
#define REP PF_IS_REPEATED
#define PACK PF_IS_PACKED
#define ONE(n) ((n)*PF_ONEOF)

static const struct pf_field fields[] = {
#define MESSAGE(message, name, first, last)
#define FIELD(message, field, number, type, flags, arg)                                                      \
	{ { #field, sizeof #field - 1, SLICE_UTF8 | SLICE_JSON }, number, PF_TYPE_##type, (flags), (arg) },
#include "perfetto/schema/schema.def"
};

#define NFIELDS (sizeof fields / sizeof *fields)

struct range {
	const char *name;
	uint32_t first, last; /* numbers of extensions */
};

static const struct range messages[PF_MESSAGES] = {
#define MESSAGE(message, name, first, last) [PF_MESSAGE_##message] = { name, first, last },
#define FIELD(message, field, number, type, flags, arg)
#include "perfetto/schema/schema.def"
};

/* The message of each field. */
static const uint8_t owners[] = {
#define MESSAGE(message, name, first, last)
#define FIELD(message, field, number, type, flags, arg) PF_MESSAGE_##message,
#include "perfetto/schema/schema.def"
};

void pf_schema_init(struct pf_schema *s)
{
	memset(s, 0, sizeof *s);
	for (size_t i = NFIELDS; i-- > 0;)
		s->first[owners[i]] = &fields[i];
	for (size_t i = 0; i < NFIELDS; i++) {
		s->n[owners[i]]++;
		if (fields[i].number < PF_DIRECT)
			s->direct[owners[i]][fields[i].number] =
			    (uint8_t)(&fields[i] - s->first[owners[i]] + 1);
	}
}

const struct pf_field *pf_schema_field(const struct pf_schema *s, enum pf_message m, uint32_t number)
{
	if (number < PF_DIRECT)
		return s->direct[m][number] == 0 ? NULL : s->first[m] + s->direct[m][number] - 1;
	for (uint32_t i = 0; i < s->n[m]; i++)
		if (s->first[m][i].number == number)
			return &s->first[m][i];
	return NULL;
}

bool pf_schema_is_extension(enum pf_message m, uint32_t number)
{
	return number >= messages[m].first && number <= messages[m].last && messages[m].last > 0;
}

const char *pf_schema_name(enum pf_message m)
{
	return messages[m].name;
}

/* ---- encoding ---- */

void wire_close_long(struct text *t, size_t start)
{
	const size_t n = t->n - start;
	const unsigned more = wire_size(n) - 1;

	if (text_reserve(t, more) == NULL)
		return;
	memmove(t->p + start + more, t->p + start, n);
	wire_put(t->p + start - 1, n);
	t->n += more;
}

/* ---- messages as structs ---- */

static inline void store(const struct pf_member *m, const struct pf_wire *w, char *to)
{
	const uint32_t v32 = (uint32_t)w->v;
	struct slice s;

	switch ((enum pf_as)m->as) {
	case PF_AS_U8:
		*to = (char)w->v;
		break;
	case PF_AS_U32:
		memcpy(to, &v32, sizeof v32);
		break;
	case PF_AS_U64:
		memcpy(to, &w->v, sizeof w->v);
		break;
	case PF_AS_BOOL:
		*to = w->v != 0;
		break;
	case PF_AS_FIELD:
	case PF_AS_SLICE:
		s = m->as == PF_AS_SLICE ? pf_wire_slice(w) : slice_of(w->at, (size_t)(w->p - w->at));
		memcpy(to, &s, sizeof s);
		break;
	case PF_AS_MARK:
		break;
	}
}

void pf_read(struct slice message, const struct pf_member *members, uint32_t n, void *to)
{
	struct pf_wire w = pf_wire_on(message);

	while (pf_wire_next(&w)) {
		const uint32_t number = pf_wire_number(&w);
		if (number >= n || members[number].tag != w.tag)
			continue;
		const struct pf_member *const m = &members[number];
		store(m, &w, (char *)to + m->at);
		if (m->marked_at > 0)
			((char *)to)[m->marked_at - 1] = (char)m->mark;
	}
}

/* ---- names of types ---- */

/* Names of the types of threads and processes that Chrome's descriptors have instead of a name, as Perfetto's
 * importer shows them. */

/* clang-format off */
static const char *const threads[] = {
	[1] = "CrProcessMain",                             [2] = "ChromeIOThread",
	[3] = "ThreadPoolBackgroundWorker&",               [4] = "ThreadPoolForegroundWorker&",
	[5] = "ThreadPoolSingleThreadForegroundBlocking&", [6] = "ThreadPoolSingleThreadBackgroundBlocking&",
	[7] = "ThreadPoolService",                         [8] = "Compositor",
	[9] = "VizCompositorThread",                       [10] = "CompositorTileWorker&",
	[11] = "ServiceWorkerThread&",                     [12] = "NetworkService",
	[13] = "Chrome_ChildIOThread",                     [14] = "Chrome_IOThread",
	[15] = "CrBrowserMain",                            [16] = "CrRendererMain",
	[17] = "CrUtilityMain",                            [18] = "CrGpuMain",
	[19] = "CacheThread_BlockFile",                    [20] = "Media",
	[21] = "AudioOutputDevice",                        [22] = "AudioInputDevice",
	[23] = "GpuMemoryThread",                          [24] = "GpuVSyncThread",
	[25] = "DXVAVideoDecoderThread",                   [26] = "BrowserWatchdog",
	[27] = "WebRTC_Network",                           [28] = "Window owner thread",
	[29] = "WebRTC_Signaling",                         [30] = "WebRTC_Worker",
	[31] = "CrPPAPIMain",                              [32] = "GpuWatchdog",
	[34] = "Gamepad polling thread",                   [35] = "WebCrypto",
	[36] = "Database thread",                          [37] = "Proxy Resolver",
	[38] = "Chrome_DevToolsADBThread",                 [39] = "NetworkConfigWatcher",
	[40] = "wasapi_render_thread",                     [41] = "LoaderLockSampler",
	[42] = "VSyncThread",                              [50] = "MemoryInfra",
	[51] = "StackSamplingProfiler",                    [52] = "CompositorGpuThread",
};
/* clang-format on */

static const char *const processes[] = {
	[1] = "Browser",
	[2] = "Renderer",
	[3] = "Utility",
	[4] = "SandboxHelper",
	[5] = "PROCESS_SANDBOX_HELPER",
	[6] = "Gpu",
	[7] = "PpapiPlugin",
	[8] = "PpapiBroker",
	[9] = "Service: network.mojom.NetworkService",
	[10] = "Service: tracing.mojom.TracingService",
	[11] = "Service: storage.mojom.StorageService",
	[12] = "Service: audio.mojom.AudioService",
	[13] = "Service: data_decoder.mojom.DataDecoderService",
	[14] = "Service: chrome.mojom.UtilWin",
	[15] = "Service: proxy_resolver.mojom.ProxyResolverFactory",
	[16] = "Service: media.mojom.CdmServiceBroker",
	[17] = "Service: video_capture.mojom.VideoCaptureService",
	[18] = "Service: unzip.mojom.Unzipper",
	[19] = "Service: mirroring.mojom.MirroringService",
	[20] = "Service: patch.mojom.FilePatcher",
	[21] = "Service: chromeos.tts.mojom.TtsService",
	[22] = "Service: printing.mojom.PrintingService",
	[23] = "Service: quarantine.mojom.Quarantine",
	[24] = "Service: chromeos.local_search_service.mojom.LocalSearchService",
	[25] = "Service: chromeos.assistant.mojom.AssistantAudioDecoderFactory",
	[26] = "Service: chrome.mojom.FileUtilService",
	[27] = "Service: printing.mojom.PrintCompositor",
	[28] = "Service: paint_preview.mojom.PaintPreviewCompositorCollection",
	[29] = "Service: media.mojom.SpeechRecognitionService",
	[30] = "Service: device.mojom.XRDeviceService",
	[31] = "Service: chrome.mojom.UtilReadIcon",
	[32] = "Service: language_detection.mojom.LanguageDetectionService",
	[33] = "Service: sharing.mojom.Sharing",
	[34] = "Service: chrome.mojom.MediaParserFactory",
	[35] = "Service: qrcode_generator.mojom.QRCodeService",
	[36] = "Service: chrome.mojom.ProfileImport",
	[37] = "Service: chromeos.ime.mojom.ImeService",
	[38] = "Service: recording.mojom.RecordingService",
	[39] = "Service: shape_detection.mojom.ShapeDetectionService",
	[40] = "Extension Renderer",
	[41] = "Service: media.mojom.MediaFoundationServiceBroker",
	[42] = "PROCESS_RENDERER_TOP_WEBUI",
};

static struct slice name_of(const char *const *names, size_t n, uint64_t type)
{
	return type < n && names[type] != NULL ? slice_str(names[type]) : SLICE_NONE;
}

struct slice pf_chrome_thread(uint64_t type)
{
	return name_of(threads, sizeof threads / sizeof *threads, type);
}

struct slice pf_chrome_process(uint64_t type)
{
	return name_of(processes, sizeof processes / sizeof *processes, type);
}

bool pf_chrome_is_renderer(uint64_t type)
{
	return type == 2 || type == 40; /* see processes[] */
}
