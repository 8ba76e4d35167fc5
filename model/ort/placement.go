package ort

/*
#cgo linux LDFLAGS: -ldl
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#ifdef _WIN32
#include <windows.h>
static void *loaded(const char *path, const char *name) {
	HMODULE h = GetModuleHandleA("onnxruntime.dll");
	return h ? (void *)GetProcAddress(h, name) : NULL;
}
#else
#include <dlfcn.h>
// loaded finds a function of a library that is in the process already.
static void *loaded(const char *path, const char *name) {
	void *h = dlopen(path, RTLD_LAZY | RTLD_NOLOAD), *f = NULL;
	if (h) {
		f = dlsym(h, name);
		dlclose(h);
	}
	return f;
}
#endif

// What the binding does not have of the runtime's C interface. Version 24 of it is a table of
// functions that only grows: their places in it stay. A status that is not NULL is an error.
enum { RELEASE_STATUS = 93, SESSION_ASSIGNMENT = 407, SUBGRAPH_PROVIDER, SUBGRAPH_NODES, NODE_NAME, NODE_DOMAIN, NODE_OPERATOR };

typedef struct {
	const void *const *(*get_api)(uint32_t version);
	const char *(*version)(void);
} api_base;

static const void *const *get_api(const char *path) {
	const api_base *(*base)(void) = (const api_base *(*)(void))loaded(path, "OrtGetApiBase");
	return base ? base()->get_api(24) : NULL;
}

static int ended(const void *const *api, void *status) {
	if (status)
		((void (*)(void *))api[RELEASE_STATUS])(status);
	return status == NULL;
}

typedef void *(*list_of)(const void *, const void *const **, size_t *);
typedef void *(*text_of)(const void *, const char **);

static int list(const void *const *api, int which, const void *of, const void *const **out, size_t *n) {
	return ended(api, ((list_of)api[which])(of, out, n));
}

static const char *text(const void *const *api, int which, const void *of) {
	const char *s = NULL;
	return ended(api, ((text_of)api[which])(of, &s)) ? s : NULL;
}
*/
import "C"

import (
	"errors"
	"reflect"
	"unsafe"

	onnx "github.com/yalue/onnxruntime_go"
)

// recordPlacement is the session setting that [placement] needs.
const recordPlacement = "session.record_ep_graph_assignment_info"

// A placed node is an operator of a network with the provider that the runtime assigned it to.
type placed struct{ name, operator, provider string }

var errPlacement = errors.New("the runtime does not report where the network's nodes run")

// placement returns the nodes of a session, including those in loops and branches, with their
// providers; library is the runtime's file.
func placement(native *onnx.DynamicAdvancedSession, library string) ([]placed, error) {
	path := C.CString(library)
	defer C.free(unsafe.Pointer(path))
	api := C.get_api(path)
	session := pointer(native, "s", "ortSession")
	if api == nil || session == nil {
		return nil, errPlacement
	}
	parts, err := listed(api, C.SESSION_ASSIGNMENT, session)
	var all []placed
	for _, part := range parts {
		nodes, nerr := listed(api, C.SUBGRAPH_NODES, part)
		if err = errors.Join(err, nerr); err != nil {
			break
		}
		provider := C.GoString(C.text(api, C.SUBGRAPH_PROVIDER, part))
		for _, node := range nodes {
			all = append(all, placed{C.GoString(C.text(api, C.NODE_NAME, node)), C.GoString(C.text(api, C.NODE_OPERATOR, node)), provider})
		}
	}
	if err == nil && len(all) == 0 {
		err = errPlacement
	}
	return all, err
}

// pointer follows unexported fields of the binding, which are pointers, by name. It returns nil if
// a field is nil, missing or of another type.
func pointer(of any, fields ...string) unsafe.Pointer {
	v := reflect.ValueOf(of)
	for _, name := range fields {
		if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
			return nil
		}
		v = v.Elem().FieldByName(name)
	}
	if v.Kind() != reflect.Pointer {
		return nil
	}
	return v.UnsafePointer()
}

// listed calls a function that returns a list of the runtime's objects.
func listed(api *unsafe.Pointer, which C.int, of unsafe.Pointer) ([]unsafe.Pointer, error) {
	var list *unsafe.Pointer
	var n C.size_t
	if C.list(api, which, of, &list, &n) == 0 {
		return nil, errPlacement
	}
	return unsafe.Slice(list, int(n)), nil
}
