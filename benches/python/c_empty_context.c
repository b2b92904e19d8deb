/* The yardstick of the recorded section: a context manager written in C that does nothing.
 * Its methods are METH_FASTCALL, the cheapest kind that `with` and ExitStack both accept. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static PyObject *nothing(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)self, (void)args, (void)count;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"__enter__", (PyCFunction)(void (*)(void))nothing, METH_FASTCALL, NULL},
    {"__exit__", (PyCFunction)(void (*)(void))nothing, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject empty_context = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "c_empty_context.EmptyContext",
    .tp_basicsize = sizeof(PyObject),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = PyType_GenericNew,
    .tp_methods = methods,
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "c_empty_context", .m_size = -1};

PyMODINIT_FUNC PyInit_c_empty_context(void)
{
    PyObject *made = PyModule_Create(&module);
    if (made && PyModule_AddType(made, &empty_context) < 0)
        Py_CLEAR(made);
    return made;
}
